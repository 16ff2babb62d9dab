"""The events of a source as mysql-replication reads them, over a separate connection.

The only module that imports the library.
"""

import contextlib
import io
import logging
import struct
import warnings
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

import pymysql
from pymysqlreplication import BinLogStreamReader
from pymysqlreplication.event import (
    GtidEvent,
    MariadbGtidEvent,
    NotImplementedEvent,
    QueryEvent,
    XidEvent,
)
from pymysqlreplication.exceptions import StatusVariableMismatch
from pymysqlreplication.row_event import (
    DeleteRowsEvent,
    PartialUpdateRowsEvent,
    RowsEvent,
    UpdateRowsEvent,
    WriteRowsEvent,
)

from relay.errors import SourceLoginRefused, SourceUnreachable
from relay.model.change import Operation
from relay.model.positions.position import BinlogPosition
from relay.model.table import TableId
from relay.settings import SourceSettings
from relay.tls import login

_ROWS: Final = {
    WriteRowsEvent: Operation.INSERT,
    UpdateRowsEvent: Operation.UPDATE,
    PartialUpdateRowsEvent: Operation.UPDATE,
    DeleteRowsEvent: Operation.DELETE,
}
COMPRESSED: Final = {
    40: "a compressed transaction (TRANSACTION_PAYLOAD)",
    **dict.fromkeys(range(166, 172), "a compressed row event"),
}
"""Event types with rows that the library skips silently, and their names."""
_BROKEN: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    TypeError,
    ValueError,
)
"""Errors of the library for an event that it cannot read.

The next event can still be read.
"""
_LOGIN_REFUSED: Final = frozenset({1044, 1045, 1698})

LibraryRow = tuple[tuple[object, ...] | None, tuple[object, ...] | None]
"""The values before and after, in the table's order of columns.

None if the event has no such image.
"""


@dataclass(frozen=True, slots=True)
class LibraryEvent:
    """One event as the library reads it.

    position          where it begins; None if the source writes no positions (MariaDB 11.4 and
                      later, inside transactions)
    table, operation  of a row event, else None
    rows              of a row event; empty if `error` says why the library cannot read them
    passed_over       number of an event type that the library does not know, else 0
    text              what the library prints of the event
    """

    position: BinlogPosition | None
    table: TableId | None = None
    operation: Operation | None = None
    rows: tuple[LibraryRow, ...] = ()
    error: str = ""
    passed_over: int = 0
    text: str = ""

    @property
    def may_hold_rows(self) -> bool:
        """Whether the relay may read rows from the event."""
        return self.table is not None or self.passed_over in COMPRESSED


def library_events(
    settings: SourceSettings,
    server_id: int,
    start: BinlogPosition,
    until: BinlogPosition,
    *,
    with_statements: bool,
    with_texts: bool,
) -> Iterator[LibraryEvent]:
    """Yield the library's events from `start` up to `until`: row events, and events of a type that
    the library does not know.

    with_statements  True: also yield statements, GTIDs and commits
    with_texts       True: events have the text that the library prints of them

    Raises SourceUnreachable, SourceLoginRefused.
    """
    logging.getLogger("pymysqlreplication").setLevel(logging.ERROR)
    others = [GtidEvent, MariadbGtidEvent, QueryEvent, XidEvent] if with_statements else []
    reader = BinLogStreamReader(
        connection_settings={**login(settings), "read_timeout": settings.read_timeout_seconds},
        server_id=server_id,
        log_file=start.file,
        log_pos=start.offset,
        resume_stream=True,
        only_events=[*_ROWS, NotImplementedEvent, *others],
        filter_non_implemented_events=False,
        verify_checksum=True,
        enable_logging=False,
        pymysql_wrapper=_Connections(settings),
    )
    with closing(reader):
        while (found := _next(reader, settings)) is not None:
            event = (
                found
                if isinstance(found, LibraryEvent)
                else _event(found, reader.log_file, with_text=with_texts)
            )
            if (
                event.position or BinlogPosition(reader.log_file, reader.log_pos)
            ).rank >= until.rank:
                return
            yield event


class _Connections:
    """Opens the library's two connections, and refuses a third one.

    The library opens a third connection only to restart silently, from a position inside a
    transaction.
    """

    def __init__(self, settings: SourceSettings) -> None:
        self._place = f"{settings.host}:{settings.port}"
        self._opened = 0

    def __call__(self, **arguments: Any) -> Any:
        self._opened += 1
        if self._opened > 2:
            raise SourceUnreachable(f"The source at {self._place} ended the library's connection.")
        if "db" in arguments:
            # newer versions of the driver have this name
            arguments["database"] = arguments.pop("db")
        return pymysql.connect(**arguments)


def _next(reader: Any, settings: SourceSettings) -> Any:
    """Return the library's next event, an event for one that it could not read, or None at the
    binlog's end.
    """
    try:
        return reader.fetchone()
    except pymysql.MySQLError as exc:
        place = f"{settings.host}:{settings.port}"
        refused = (
            SourceLoginRefused if exc.args and exc.args[0] in _LOGIN_REFUSED else SourceUnreachable
        )
        raise refused(
            f"The source at {place} does not let the library read its binlog: {exc}."
        ) from exc
    except OSError as exc:
        raise SourceUnreachable(
            f"The library's connection to {settings.host}:{settings.port} broke: {exc}."
        ) from exc
    except (*_BROKEN, struct.error, StatusVariableMismatch) as exc:
        return LibraryEvent(
            None, error=_told(exc), text=f"(an event that the library cannot read: {_told(exc)})"
        )


def _event(event: Any, file: str, *, with_text: bool) -> LibraryEvent:
    end: int = event.packet.log_pos
    position = BinlogPosition(file, end - event.packet.event_size) if end else None
    text = _printed(event) if with_text else ""
    if isinstance(event, NotImplementedEvent):
        return LibraryEvent(
            position,
            passed_over=event.event_type,
            text=f"(an event of type {event.event_type}, unknown to the library)",
        )
    if not isinstance(event, RowsEvent):
        return LibraryEvent(position, text=text)
    table, operation = TableId(event.schema, event.table), _ROWS[type(event)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # the library converts a TIMESTAMP by a deprecated function
            rows = event.rows
        return LibraryEvent(
            position, table, operation, tuple(_row(row, operation) for row in rows), text=text
        )
    except (*_BROKEN, struct.error) as exc:
        return LibraryEvent(position, table, operation, error=_told(exc), text=text)


def _row(row: Mapping[str, Mapping[str, object]], operation: Operation) -> LibraryRow:
    if operation is not Operation.UPDATE:
        values = tuple(row["values"].values())
        return (None, values) if operation is Operation.INSERT else (values, None)
    return tuple(row["before_values"].values()), tuple(row["after_values"].values())


def _printed(event: Any) -> str:
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            event.dump()
    except (*_BROKEN, struct.error) as exc:
        return f"{printed.getvalue()}(the library cannot print the rest: {_told(exc)})"
    return printed.getvalue().strip()


def _told(exc: Exception) -> str:
    return f"{type(exc).__name__}: {exc}".strip().rstrip(".")
