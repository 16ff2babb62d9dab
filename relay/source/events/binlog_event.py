"""One event of the binlog, and who may take many of them at once."""

from typing import NamedTuple, Protocol

from relay.model.change import RawItem
from relay.model.event_types import Body
from relay.model.positions.position import SourceIdentity
from relay.source.events.open_transaction import OpenTransaction


class BinlogEvent(NamedTuple):
    """One event without its header and checksum; `start` and `end` are its offsets in the file.

    `body` may be a passing view.
    """

    type_code: int
    flags: int
    time_s: int
    server_id: int
    start: int
    end: int
    body: Body


class Group(Protocol):
    """The file that is read, and the transaction that is open in it.

    `plain` says that all its rows count.
    """

    file: str
    identity: SourceIdentity
    mariadb: bool
    transaction: OpenTransaction | None

    @property
    def plain(self) -> bool:
        """Return True if all rows of the open transaction are to be published as they are."""

    def begin(self, start: int, gtid: str, stays_open: bool) -> OpenTransaction:
        """Open a transaction."""


class Scanner(Protocol):
    """Takes events that need no second look out of a buffer of packets.

    What it leaves is read one by one.
    """

    def scan(
        self,
        buffer: bytearray,
        start: int,
        end: int,
        offset: int,
        checksummed: bool,
        group: Group,
        /,
    ) -> tuple[list[RawItem], int, int]:
        """Return what the events at the front of buffer[start:end] amount to, where the packet
        behind them begins, and the offset there.
        """
