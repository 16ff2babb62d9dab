"""The time of a transaction for merging: by the source's clock, or by a column of its rows."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Final, TypeAlias

from relay.errors import Stop
from relay.model.change import RowsEvent, StreamItem, TransactionBegin, TransactionEnd
from relay.model.value import Value

TimeOfTransaction: TypeAlias = "Callable[[Iterable[StreamItem]], int | None]"
"""The first items of a transaction → Unix milliseconds, None while they do not say.

A transaction that is whole always does.
"""

_FIRST_MILLISECONDS: Final = 100_000_000_000
"""Integers from here on are milliseconds: read as seconds they would be after the year 5000."""


def by_execute_time(items: Iterable[StreamItem]) -> int | None:
    """Return the immediate commit timestamp of the GTID event (MySQL 8+) or the header's time."""
    return next((item.change_time_ms for item in items if isinstance(item, TransactionBegin)), None)


def by_column(name: str) -> TimeOfTransaction:
    """Return a function for the time by a column: its value in the first row that has one.

    It is a DATETIME or TIMESTAMP in UTC, or a number of seconds or milliseconds. A transaction
    without such a value gets its execute time.
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
        return None  # what is wrong with the rows is said where they are published, if they are
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
