"""Where row images and their values end, without printing anything."""

from collections.abc import Sequence
from typing import Final, TypeAlias

from relay.generated.tables import Damaged, Refused

Spans: TypeAlias = "list[bytes | None]"
_STEPS_KEPT: Final = 64


class ImageEnds:
    """Knows the columns of a table by (bytes of a fixed value or of the length before one, whether it varies, whether it may be null)."""

    def __init__(self, columns: Sequence[tuple[int, bool, bool]]) -> None:
        self._columns = columns
        self._null_bytes = (len(columns) + 7) // 8
        self._never_null = sum(1 << ordinal for ordinal, (_, _, nullable) in enumerate(columns) if not nullable)
        self._steps: dict[bytes, tuple[list[tuple[int, int]], int]] = {}

    def refuses(self, nulls: bytes) -> bool:
        """Whether a column is null that cannot be, or the bytes are too few."""
        return len(nulls) < self._null_bytes or bool(int.from_bytes(nulls, "little") & self._never_null)

    def rows(self, body: bytes, at: int, images: int) -> int:
        """Return how many rows of so many images each there are. Raises Refused where it has none that can be read."""
        rows = 0
        while at < len(body):
            for _ in range(images):
                at = self.end(body, at)
            rows += 1
        return rows

    def spans(self, body: bytes, at: int) -> tuple[Spans, int]:
        """Return the bytes of each value of the image at this place, None for nulls, and where it ends. Raises Refused."""
        end = self.end(body, at)
        nulls = int.from_bytes(body[at : at + self._null_bytes], "little")
        at += self._null_bytes
        spans: Spans = []
        for ordinal, (width, variable, _) in enumerate(self._columns):
            if nulls >> ordinal & 1:
                spans.append(None)
                continue
            size = int.from_bytes(body[at : at + width], "little") if variable else 0
            spans.append(body[at : at + width + size])
            at += width + size
        return spans, end

    def end(self, body: bytes, at: int) -> int:
        """Return where the image at this place ends. Raises Refused."""
        nulls = body[at : at + self._null_bytes]
        steps, rest = self._steps.get(nulls) or self._new_steps(nulls)
        end = len(body)
        at += self._null_bytes
        for ahead, prefix in steps:
            at += ahead
            if at > end:
                raise Damaged
            at += int.from_bytes(body[at - prefix : at], "little")
        if at + rest > end:
            raise Damaged
        return at + rest

    def _new_steps(self, nulls: bytes) -> tuple[list[tuple[int, int]], int]:
        """How far it is behind each length before a value, the bytes of that length, and what follows the last one."""
        if len(nulls) < self._null_bytes:
            raise Damaged
        if self.refuses(nulls):
            raise Refused
        bits, ahead = int.from_bytes(nulls, "little"), 0
        steps: list[tuple[int, int]] = []
        for ordinal, (width, variable, _) in enumerate(self._columns):
            if bits >> ordinal & 1:
                continue
            ahead += width
            if variable:
                steps.append((ahead, width))
                ahead = 0
        if len(self._steps) >= _STEPS_KEPT:
            self._steps.clear()
        self._steps[nulls] = steps, ahead
        return steps, ahead
