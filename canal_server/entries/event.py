"""One entry: the rows of an event, a statement, or a mark of a transaction."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from canal_server.entries.row import row_data
from canal_server.wire import EntryKind, EventKind
from canal_server.wire.schema import MESSAGES
from roma_client.records.change import Change

_VERSION: Final = 1
_MYSQL: Final = 2
"""Number of the source type."""
_ENCODING: Final = "UTF-8"
_ROWS_COUNT: Final = "rowsCount"
_GTID: Final = "curtGtid"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def rows_entry(rows: Sequence[Change]) -> bytes:
    """Return the entry of an event's rows; they share table, operation and coordinates."""
    first = rows[0]
    kind = EventKind[first.operation.value]
    change = MESSAGES["RowChange"](
        eventType=kind, isDdl=False, rowDatas=[row_data(each) for each in rows]
    )
    header = _header(first)
    header.schemaName, header.tableName, header.eventType = first.database, first.table, kind
    header.props.add(key=_ROWS_COUNT, value=str(len(rows)))
    return _entry(EntryKind.ROW_DATA, header, change)


def statement_entry(statement: Change) -> bytes:
    """Return the entry of DDL, or of a change that the source logged as SQL text."""
    kind = EventKind.__members__.get(statement.kind, EventKind.QUERY)
    change = MESSAGES["RowChange"](
        eventType=kind,
        isDdl=statement.is_ddl,
        sql=statement.sql or "",
        ddlSchemaName=statement.database,
    )
    header = _header(statement)
    header.schemaName, header.tableName = statement.database, statement.table
    header.eventType = kind
    return _entry(EntryKind.ROW_DATA, header, change)


def mark_entry(kind: EntryKind, change: Change) -> bytes:
    """Return TRANSACTIONBEGIN or TRANSACTIONEND of the transaction of a change."""
    if kind is EntryKind.TRANSACTION_BEGIN:
        return _entry(kind, _header(change), MESSAGES["TransactionBegin"]())
    end = MESSAGES["TransactionEnd"](transactionId=change.transaction_id or "")
    return _entry(kind, _header(change), end)


def _header(change: Change) -> Any:
    """Return the part of a header that all entries of a change share."""
    header = MESSAGES["Header"](
        version=_VERSION,
        serverenCode=_ENCODING,
        sourceType=_MYSQL,
        executeTime=(change.event_time - _EPOCH) // _MILLISECOND,
    )
    if change.source is not None:
        header.serverId = change.source.server_id
        header.logfileName, header.logfileOffset = change.source.file, change.source.offset
    if change.transaction_id is not None:
        header.gtid = change.transaction_id
        header.props.add(key=_GTID, value=change.transaction_id)
    return header


def _entry(kind: EntryKind, header: Any, body: Any) -> bytes:
    entry = MESSAGES["Entry"](header=header, entryType=kind, storeValue=body.SerializeToString())
    return bytes(entry.SerializeToString())
