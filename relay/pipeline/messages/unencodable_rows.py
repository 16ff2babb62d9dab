"""Finds the rows of an event that cannot be encoded, so that the other rows are published."""

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, is_dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import orjson

from relay.errors import ValueNotPrintable
from relay.model.change import RowChange, RowsEvent
from relay.model.message import OutboundMessage
from relay.model.positions.position import OrderPair
from relay.model.table import TableMap
from relay.model.value import ABSENT, Row
from relay.pipeline.messages.table_plan import TablePlan

UNPRINTABLE: Final = (ValueNotPrintable, ValueError, TypeError, ArithmeticError, LookupError)
"""Errors that printing a value may raise.

Errors of an event's bytes, or of a table, are not included: they stop the instance.
"""

MessagesOf: TypeAlias = Callable[
    [RowsEvent, OrderPair, int], Iterable[tuple[OrderPair, list[OutboundMessage]]]
]
"""Event, the preceding order key, and the number of its rows already published → order keys and
messages.
"""


class UnprintableRow(NamedTuple):
    """A row that cannot be printed.

    code    code of the error
    reason  reason of the error
    key     its message key; None: the key cannot be printed either
    values  its values as JSON
    """

    code: str
    reason: str
    key: bytes | None
    values: bytes


def rows_one_by_one(
    event: RowsEvent,
    plan: TablePlan,
    messages_of: MessagesOf,
    before: OrderPair,
    skip: int,
    *,
    together: bool = True,
) -> Iterator[tuple[OrderPair, list[OutboundMessage] | UnprintableRow]]:
    """Yield (order key, messages or UnprintableRow) for the rows of an event.

    event        the row event
    plan         how its table is published
    messages_of  makes the messages of an event
    before       the order key before the event
    skip         number of first rows that get no messages, because they are already published
    together     True: first try to make the messages of the whole event. False, or if that fails:
                 call `messages_of` for each row alone

    A row that cannot be printed still takes its order keys. Raises the errors of decoding.
    """
    len(event.rows)  # decoded before anything is caught
    undecodable = plan.undecodable
    order = before
    try:
        if together:
            yield from list(messages_of(event, before, skip))
            return
    except UNPRINTABLE:
        plan.count_undecodable(undecodable)
    for number, change in enumerate(event.rows):
        part = event._replace(rows=(change,), images_at=None)
        undecodable = plan.undecodable
        try:
            made: list[tuple[OrderPair, list[OutboundMessage]]] = list(
                messages_of(part, order, max(0, skip - number))
            )
        except UNPRINTABLE as exc:
            plan.count_undecodable(undecodable)
            order = OrderPair(order.execute_time, order.execute_position + _pairs(change, plan))
            yield order, [] if number < skip else _unprintable(exc, event.table, change, plan)
            continue
        yield from made
        order = made[-1][0]


def _pairs(change: RowChange, plan: TablePlan) -> int:
    try:
        return 2 if plan.splits(change) else 1
    except UNPRINTABLE:
        return 1


def _unprintable(
    error: Exception, table: TableMap, change: RowChange, plan: TablePlan
) -> UnprintableRow:
    reason = (
        error.reason if isinstance(error, ValueNotPrintable) else f"{type(error).__name__}: {error}"
    )
    try:
        key = plan.parts(change)[-1].keys(plan).encode(change)
    except UNPRINTABLE:
        key = None
    return UnprintableRow(
        ValueNotPrintable.code, reason, key, orjson.dumps(row_values(table, change))
    )


def row_values(table: TableMap, change: RowChange) -> dict[str, Any]:
    """Return a row as it was read, for JSON: columns with their types, and the values before and
    after.

    Bytes are in base64; columns that the row image lacks are left out.
    """
    columns = [{"name": column.name, "type": column.type.name} for column in table.columns]
    return {
        "columns": columns,
        "before": _named(table, change.before),
        "after": _named(table, change.after),
    }


def _named(table: TableMap, row: Row | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {
        column.name: _plain(value)
        for column, value in zip(table.columns, row, strict=True)
        if value is not ABSENT
    }


def _plain(value: object) -> Any:
    """A value that JSON has a word for; a parsed JSON document as its parts."""
    if isinstance(value, bytes):
        return {"base64": b64encode(value).decode("ascii")}
    if is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(part) for name, part in asdict(value).items()}
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value
