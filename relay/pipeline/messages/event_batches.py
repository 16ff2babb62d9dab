"""Row events that can go through the rooms together."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, TypeAlias

from relay.model.change import (
    Advance,
    FromSource,
    PreparedRows,
    RowsEvent,
    Statement,
    StreamItem,
    TransactionBegin,
    TransactionEnd,
    XaStep,
)

OtherItem: TypeAlias = (
    TransactionBegin | PreparedRows | Statement | XaStep | TransactionEnd | Advance | FromSource
)

MOST_EVENTS: Final = 16
MOST_BYTES: Final = 1 << 14
"""What is printed of so many row events stays in the processor's caches."""


def in_runs(
    items: Sequence[StreamItem], most_events: int, most_bytes: int
) -> Iterator[list[RowsEvent] | OtherItem]:
    """Yield the items in their order, row events that can go together as one list."""
    at = 0
    while at < len(items):
        each = run_at(items, at, most_events, most_bytes)
        yield each
        at += len(each) if isinstance(each, list) else 1


def run_at(
    items: Sequence[StreamItem], at: int, most_events: int, most_bytes: int
) -> list[RowsEvent] | OtherItem:
    """Return the item at this place, a row event with those that follow it in its table, in the
    same second of the same transaction.

    They are at most `most_events`, and end where they reach `most_bytes` of the binlog.
    """
    first = items[at]
    if not isinstance(first, RowsEvent):
        return first
    run, size_bytes = [first], first.size_bytes
    for item in islice(items, at + 1, at + most_events):
        if size_bytes >= most_bytes or not isinstance(item, RowsEvent):
            break
        if item.table is not first.table or item.header_time_s != first.header_time_s:
            break
        run.append(item)
        size_bytes += item.size_bytes
    return run
