"""One event of the binlog, and the interface of a scanner that reads many events at once."""

from typing import NamedTuple, Protocol

from relay.model.change import RawItem
from relay.model.event_types import Body
from relay.model.positions.position import SourceIdentity
from relay.source.events.open_transaction import OpenTransaction


class BinlogEvent(NamedTuple):
    """One event, with the fields of its header: type, flags, Unix time, and the server that wrote
    it. `start` and `end` are its offsets in the binlog file.

    `body` is the event without header and checksum. It may be a view that is valid only until the
    next event is read.
    """

    type_code: int
    flags: int
    time_s: int
    server_id: int
    start: int
    end: int
    body: Body


class Group(Protocol):
    """The state that a scanner needs: the binlog file that is read, and the open transaction.

    file         the name of the binlog file
    identity     the server and the file, as a position names them
    mariadb      whether the server is MariaDB; otherwise it is MySQL
    transaction  the open transaction, None if none is open
    """

    file: str
    identity: SourceIdentity
    mariadb: bool
    transaction: OpenTransaction | None

    @property
    def plain(self) -> bool:
        """Return whether every row of the open transaction can be returned unchanged: none was
        rolled back, and it is no XA transaction.
        """

    def begin(self, start: int, gtid: str, stays_open: bool) -> OpenTransaction:
        """Open a transaction that begins at the offset `start` with the GTID `gtid` ("" without
        one).

        `stays_open`: only COMMIT, XID or ROLLBACK ends it, and no other statement.
        """


class Scanner(Protocol):
    """Reads the common events from a buffer of packets, many at once. The caller reads all other
    events one by one.
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
        """Return (items, index after their packets, binlog offset after them) of the events at the
        front of buffer[start:end].

        `offset` is the binlog offset of the first of these events. `checksummed`: events end with a
        checksum.
        """
