"""Reads whole packets of the MySQL protocol from a socket, as views into one reused buffer.

A packet is 3 bytes of length, 1 of sequence number and its payload. A payload of exactly 16 MB - 1
continues in the next packet (MySQL manual: Protocol Basics, MySQL Packets).
"""

import socket
from collections.abc import Callable
from time import monotonic
from typing import Final

from relay.errors import SourceSilent, SourceUnreachable
from relay.model.change import RawItem
from relay.source.events.binlog_event import Group, Scanner

_BUFFER_BYTES: Final = (
    1 << 20
)  # many small packets per system call, still small beside one row image
_HEADER_BYTES: Final = 4
_LONGEST_PAYLOAD: Final = 0xFFFFFF


class PacketReader:
    """Returns the payloads that arrive on a connected socket; one thread reads.

    `before_waiting` is called before each possible wait.
    """

    __slots__ = (
        "_address",
        "_buffer",
        "_end",
        "_silent_since_s",
        "_socket",
        "_start",
        "_view",
        "_waited_since_s",
        "before_waiting",
    )

    def __init__(
        self, connected: socket.socket, address: str, buffer_bytes: int = _BUFFER_BYTES
    ) -> None:
        """`address` names the server in errors, as host:port."""
        self.before_waiting: Callable[[], object] = _nothing
        self._socket = connected
        self._address = address
        self._buffer = bytearray(max(buffer_bytes, _HEADER_BYTES))
        self._view = memoryview(self._buffer)
        self._start = 0
        self._end = 0
        self._silent_since_s = self._waited_since_s = 0.0

    @property
    def silent_seconds(self) -> float:
        """Return for how many seconds `next_payload` has waited without data other than heartbeats;
        0 if it is not waiting.

        Any thread may read it.
        """
        since_s = self._silent_since_s
        return monotonic() - since_s if since_s else 0.0

    def still_silent(self) -> None:
        """Do not count the last received bytes as data, because they were a heartbeat: the measured
        silence continues.
        """
        self._silent_since_s = self._waited_since_s

    def next_payload(self) -> memoryview:
        """Return the next whole payload. The view is valid until the next call.

        Raises SourceSilent if the socket's timeout passes, and SourceUnreachable if the server
        closes the connection.
        """
        start = self._start
        if self._end - start < _HEADER_BYTES:
            self._fill(_HEADER_BYTES)
            start = self._start
        buffer = self._buffer
        length = buffer[start] | buffer[start + 1] << 8 | buffer[start + 2] << 16
        if length == _LONGEST_PAYLOAD:
            return self._joined()
        whole = length + _HEADER_BYTES
        if whole > len(buffer):
            self._start += _HEADER_BYTES
            return memoryview(self._take(length))
        if self._end - start < whole:
            self._fill(whole)
            start = self._start
        self._start = start + whole
        return self._view[start + _HEADER_BYTES : start + whole]

    def scan(
        self, scanner: Scanner, group: Group, offset: int, *, checksummed: bool
    ) -> tuple[list[RawItem], int]:
        """Return the items of the events that were already received, and the binlog offset after
        them.

        `offset` is the binlog offset before them. `checksummed`: events end with a checksum.
        """
        items, self._start, offset = scanner.scan(
            self._buffer, self._start, self._end, offset, checksummed, group
        )
        return items, offset

    def _joined(self) -> memoryview:
        """A payload over several packets; the last one is shorter than the longest, maybe empty."""
        payload = bytearray()
        length = _LONGEST_PAYLOAD
        while length == _LONGEST_PAYLOAD:
            if self._end - self._start < _HEADER_BYTES:
                self._fill(_HEADER_BYTES)
            length = int.from_bytes(self._view[self._start : self._start + 3], "little")
            self._start += _HEADER_BYTES
            payload += self._take(length)
        return memoryview(payload)

    def _take(self, length: int) -> bytearray:
        """Return `length` bytes in a separate array, for packets larger than the buffer."""
        taken = bytearray(length)
        view = memoryview(taken)
        held = min(length, self._end - self._start)
        view[:held] = self._view[self._start : self._start + held]
        self._start += held
        while held < length:
            held += self._receive(view[held:])
        return taken

    def _fill(self, wanted: int) -> None:
        """Read until at least `wanted` bytes are in the buffer from `_start` on, never more than
        it can hold.
        """
        held = self._end - self._start
        if held == 0 or self._start + wanted > len(self._buffer):
            self._buffer[:held] = self._buffer[self._start : self._end]
            self._start, self._end = 0, held
        while self._end - self._start < wanted:
            self._end += self._receive(self._view[self._end :])

    def _receive(self, into: memoryview) -> int:
        self.before_waiting()
        self._silent_since_s = self._waited_since_s = self._silent_since_s or monotonic()
        try:
            received = self._socket.recv_into(into)
        except TimeoutError as exc:
            silence_s = self._socket.gettimeout()
            raise SourceSilent(
                f"Neither an event nor a heartbeat came from the source at {self._address} for "
                f"{silence_s:g} seconds."
            ) from exc
        except OSError as exc:
            raise SourceUnreachable(
                f"The connection to the source at {self._address} broke: {exc}."
            ) from exc
        if received == 0:
            raise SourceUnreachable(f"The source at {self._address} closed the connection.")
        self._silent_since_s = 0.0
        return received


def _nothing() -> None:
    pass
