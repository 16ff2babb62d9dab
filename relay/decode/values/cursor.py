"""Reads small headers from bytes, and checks the end at each step."""

from relay.decode.values.malformed import Malformed

# Length-encoded integers: a first byte below this is the value itself.
_LENENC_SELF_MAX = 0xFB
_LENENC_WIDTHS = {0xFC: 2, 0xFD: 3, 0xFE: 8}


class Cursor:
    """Reads `data` from front to back. Raises Malformed instead of reading after its end.

    `what` in the methods names the field for that error.
    """

    __slots__ = ("data", "end", "pos")

    def __init__(self, data: bytes, pos: int = 0) -> None:
        self.data = data
        self.pos = pos
        self.end = len(data)

    @property
    def remaining(self) -> int:
        """Return the number of bytes that are not read yet."""
        return self.end - self.pos

    def take(self, size: int, what: str) -> bytes:
        """Return the next `size` bytes."""
        start = self.pos
        if size > self.end - start:
            raise Malformed(f"{what} needs {size} bytes where {self.end - start} are left")
        self.pos = start + size
        return self.data[start : self.pos]

    def unsigned(self, width: int, what: str) -> int:
        """Return a little-endian unsigned integer of `width` bytes."""
        return int.from_bytes(self.take(width, what), "little")

    def lenenc(self, what: str) -> int:
        """Return a length-encoded integer of the client/server protocol."""
        first = self.unsigned(1, what)
        if first < _LENENC_SELF_MAX:
            return first
        width = _LENENC_WIDTHS.get(first)
        if width is None:
            raise Malformed(f"{what} starts with 0x{first:02x}, which is not a length")
        return self.unsigned(width, what)

    def lenenc_bytes(self, what: str) -> bytes:
        """Return a byte string with a length-encoded length before it."""
        return self.take(self.lenenc(what), what)

    def lenenc_all(self, what: str) -> list[int]:
        """Return all length-encoded integers up to the end."""
        numbers = []
        while self.pos < self.end:
            numbers.append(self.lenenc(what))
        return numbers
