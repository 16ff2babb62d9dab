"""The data model of the stream: source transactions as small items, so that one of any size fits in
memory.

Named tuples, because one is created for every event or row: a frozen dataclass takes four times as
long.
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
    """One row event as the server logged it, with the table map that it refers to; source → decode.

    `table_map` is the body of the TABLE_MAP event (after its header, without checksum), `body` that
    of the rows event. `type_code` is the event's type (uncompressed form); MySQL's v2 events carry
    extra data in the body, v1 do not.
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
    images_at  where its row images begin in `body`, if each holds every column; else None
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

    `database` is the session's default one.

    `sql_mode` is the session's, as far as it changes how the text is read. `failed` says that the
    statement ended with an error on the source, which logs it if it had changed something before.
    `server_charset` is the session's character_set_server, the default of databases without one; ""
    if the binlog does not contain it.
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

    BEGIN opens the group of its rows, which PREPARE, COMMIT_AT_ONCE or ROLLBACK ends.
    """

    BEGIN = "BEGIN"
    PREPARE = "PREPARE"
    COMMIT_AT_ONCE = "COMMIT ONE PHASE"
    COMMIT = "COMMIT"
    ROLLBACK = "ROLLBACK"


class XaStep(NamedTuple):
    """A step of the XA transaction of this name (`X'gtrid',X'bqual',format`), inside the group that
    logs it.
    """

    action: XaAction
    xid: str
    position: BinlogPosition


class PreparedRows(NamedTuple):
    """A row event whose transaction is prepared, as logged, and its table as the reading
    thread has described it.
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
    """The next items come from this source of a group; it is between transactions."""

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
