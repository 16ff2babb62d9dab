"""One event of the binlog, and the interface of a scanner that reads many events at once."""

from typing import NamedTuple, Protocol

from relay.model.change import RawItem
from relay.model.event_types import Body
from relay.model.positions.position import SourceIdentity
from relay.source.events.open_transaction import OpenTransaction


class BinlogEvent(NamedTuple):
    """One event without its header and checksum; `start` and `end` are its offsets in the file.

    `body` may be a view that is valid only until the next event is read.
    """

    type_code: int
    flags: int
    time_s: int
    server_id: int
    start: int
    end: int
    body: Body


class Group(Protocol):
    """The binlog file that is read, and the transaction that is open in it."""

    file: str
    identity: SourceIdentity
    mariadb: bool
    transaction: OpenTransaction | None

    @property
    def plain(self) -> bool:
        """Return True if all rows of the open transaction should be published as they are."""

    def begin(self, start: int, gtid: str, stays_open: bool) -> OpenTransaction:
        """Open a transaction at this offset."""


class Scanner(Protocol):
    """Reads the common events out of a buffer of packets.

    The caller reads all other events one by one.
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
        """Return the items of the events at the front of buffer[start:end], the index of the packet
        after those events, and the binlog offset there.
        """
