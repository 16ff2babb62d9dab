"""Finds row events that are decoded and printed together."""

from collections.abc import Sequence
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
"""Bytes of row events that are printed together: their data fits into the processor's caches."""


def run_at(
    items: Sequence[StreamItem], at: int, most_events: int, most_bytes: int
) -> list[RowsEvent] | OtherItem:
    """Return the item at the index `at`. If it is a row event, return a list of it and the
    following row events that are printed together with it.

    All events of the list have the same table map and the same second, and no other item is between
    them. The list has at most `most_events` events, and ends with the event that reaches
    `most_bytes` bytes of the binlog.
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
