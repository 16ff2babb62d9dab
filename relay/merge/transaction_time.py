"""The time by which a transaction is merged: its time at the source, or a column of its rows."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Final, TypeAlias

from relay.errors import Stop
from relay.model.change import RowsEvent, StreamItem, TransactionBegin, TransactionEnd
from relay.model.value import Value

TimeOfTransaction: TypeAlias = "Callable[[Iterable[StreamItem]], int | None]"
"""Returns the time of a transaction in Unix milliseconds, from its first items.

None if these are not enough. For a whole transaction the result is never None.
"""

_FIRST_MILLISECONDS: Final = 100_000_000_000
"""Integers from this number on are milliseconds: as seconds they would be after the year 5000."""


def by_execute_time(items: Iterable[StreamItem]) -> int | None:
    """Return the commit time of the transaction (MySQL 8 and later), else the time in its first
    header; None without a TransactionBegin.
    """
    return next((item.change_time_ms for item in items if isinstance(item, TransactionBegin)), None)


def by_column(name: str) -> TimeOfTransaction:
    """Return a function that takes the time from a column: from the first row with a value in it.

    `name` is the column's name, compared case-insensitively. The value is a DATETIME or TIMESTAMP
    in UTC, or a number of seconds or milliseconds. A transaction without such a value gets its
    execute time.
    """
    wanted = name.lower()

    def of(items: Iterable[StreamItem]) -> int | None:
        begun: int | None = None
        for item in items:
            if isinstance(item, TransactionBegin):
                begun = item.change_time_ms
            elif isinstance(item, TransactionEnd):
                return begun
            elif isinstance(item, RowsEvent) and (found := _in_rows(item, wanted)) is not None:
                return found
        return None

    return of


def _in_rows(event: RowsEvent, wanted: str) -> int | None:
    ordinal = next(
        (at for at, column in enumerate(event.table.columns) if column.name.lower() == wanted), None
    )
    if ordinal is None:
        return None
    try:
        values = [
            row[ordinal]
            for change in event.rows
            for row in (change.after, change.before)
            if row is not None
        ]
    except Stop:
        return None  # if the rows are published, the publisher raises the error again
    return next((time_ms for value in values if (time_ms := _time_ms(value)) is not None), None)


def _time_ms(value: Value) -> int | None:
    if isinstance(value, int):
        return value if value >= _FIRST_MILLISECONDS else value * 1000
    if isinstance(value, str):
        try:
            return int(datetime.fromisoformat(value).replace(tzinfo=UTC).timestamp() * 1000)
        except ValueError:
            return None
    return None
