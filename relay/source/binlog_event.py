"""One event of the binlog, and who may find many of them at once."""

from typing import NamedTuple, Protocol

from relay.source.event_types import Body


class BinlogEvent(NamedTuple):
    """One event without its header and checksum; `start` and `end` are its offsets in the file. `body` may be a passing view."""

    type_code: int
    flags: int
    time_s: int
    server_id: int
    start: int
    end: int
    body: Body


class Scanner(Protocol):
    """Takes events that need no second look out of a buffer of packets; what it leaves is read one by one."""

    def scan(self, buffer: bytearray, start: int, end: int, offset: int, checksummed: bool, /) -> tuple[list[BinlogEvent], int, int]:
        """Return the events at the front of buffer[start:end], where the packet behind them begins, and their last end in the file."""
