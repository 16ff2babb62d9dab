"""The items of a source's stream of changes. A source transaction consists of many small items, so
that a transaction of any size can pass through memory.

The items are named tuples, because one is created for each event or row: a frozen dataclass takes
four times as long.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from relay.model.positions.position import BinlogPosition, SourceIdentity
from relay.model.sql_mode import NO_MODE, SqlMode
from relay.model.table import TableMap
from relay.model.value import Row


class Operation(StrEnum):
    """The kind of a row event. The values are the texts that messages and settings use."""

    INSERT = "INSERT"
    UPDATE = "UPDATE"
    DELETE = "DELETE"


class TransactionBegin(NamedTuple):
    """A source transaction starts at `position`.

    `gtid` is the server's text ("" without GTIDs). `commit_time_ms` is the immediate commit
    timestamp of the GTID event (MySQL 8+), None elsewhere. `header_time_s` is the header's second.
    """

    position: BinlogPosition
    gtid: str
    commit_time_ms: int | None
    header_time_s: int

    @property
    def change_time_ms(self) -> int:
        """The time of the change in Unix milliseconds: that of the commit if known, else the second
        of the header.
        """
        return self.commit_time_ms if self.commit_time_ms is not None else self.header_time_s * 1000


class RawRows(NamedTuple):
    """One row event as the server logged it, with its table map. `relay.source` makes it, and
    `relay.decode` reads it.

    table_map      body of the TABLE_MAP event, after its header and without checksum
    body           body of the row event, in the same form
    type_code      the event's type in its uncompressed form; MySQL's version 2 events have extra
                   data in the body, version 1 has none
    header_time_s  time in the event's header, Unix seconds
    mariadb        whether the server is MariaDB
    """

    table_map: bytes
    body: bytes
    type_code: int
    header_time_s: int
    position: BinlogPosition
    mariadb: bool


class RowChange(NamedTuple):
    """One row: `before` is None for inserts, `after` for deletes."""

    before: Row | None
    after: Row | None


class RowsEvent(NamedTuple):
    """The rows of one event, in binlog order. `relay.decode` makes it; publishing reads it.

    rows       may be decoded at the first access, and then raise the errors of decoding
    body       the event as it was logged
    images_at  where its row images begin in `body`; None if an image lacks a column, or can have
               changes of JSON documents instead of the documents
    """

    operation: Operation
    table: TableMap
    rows: Sequence[RowChange]
    header_time_s: int
    position: BinlogPosition
    size_bytes: int
    body: bytes = b""
    images_at: int | None = None


class Statement(NamedTuple):
    """A statement that the server logged as text: DDL, or DML in statement format.

    database        the session's default database
    sql_mode        the part of the session's sql_mode that changes how the text is read
    failed          the statement ended with an error; servers log it if it had changed something
    server_charset  the session's character_set_server, the default of databases without a character
                    set; "" if the binlog does not contain it
    """

    sql: str
    database: str
    header_time_s: int
    position: BinlogPosition
    sql_mode: SqlMode = NO_MODE
    failed: bool = False
    server_charset: str = ""


class XaAction(StrEnum):
    """A step of an XA transaction.

    BEGIN opens the event group with its rows; PREPARE, COMMIT_AT_ONCE or ROLLBACK ends that group.
    """

    BEGIN = "BEGIN"
    PREPARE = "PREPARE"
    COMMIT_AT_ONCE = "COMMIT ONE PHASE"
    COMMIT = "COMMIT"
    ROLLBACK = "ROLLBACK"


class XaStep(NamedTuple):
    """A step of an XA transaction, inside the event group that logs it.

    `xid` is the transaction's name: `X'gtrid',X'bqual',format`.
    """

    action: XaAction
    xid: str
    position: BinlogPosition


class PreparedRows(NamedTuple):
    """A row event of a prepared XA transaction, with its table as the reading thread described it
    when it was prepared.
    """

    raw: RawRows
    table: TableMap


class TransactionEnd(NamedTuple):
    """The source transaction is complete; reading may continue at `position`."""

    position: BinlogPosition
    gtid: str
    identity: SourceIdentity


class Advance(NamedTuple):
    """The source advanced without a transaction (rotation, heartbeat).

    Reading may continue at `position`.
    """

    position: BinlogPosition
    identity: SourceIdentity


class FromSource(NamedTuple):
    """Marks that the next items come from the source with the name `source`, one of a group. It
    occurs only between transactions.
    """

    source: str


RawItem: TypeAlias = TransactionBegin | RawRows | Statement | XaStep | TransactionEnd | Advance
"""The items that `relay.source` returns."""

StreamItem: TypeAlias = (
    TransactionBegin
    | RowsEvent
    | PreparedRows
    | Statement
    | XaStep
    | TransactionEnd
    | Advance
    | FromSource
)
"""The items after decoding and merging: those in the buffer."""
