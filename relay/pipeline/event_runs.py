"""Row events that can go through the rooms together."""

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from relay.model.change import Advance, RowsEvent, Statement, StreamItem, TransactionBegin, TransactionEnd

OtherItem: TypeAlias = TransactionBegin | Statement | TransactionEnd | Advance

MOST_EVENTS: Final = 16
MOST_BYTES: Final = 1 << 14
"""What is printed of so many row events stays in the processor's caches."""


def in_runs(items: Iterable[StreamItem], most_events: int, most_bytes: int) -> Iterator[list[RowsEvent] | OtherItem]:
    """Yield the items in their order, row events of one table that follow one another in a second of one transaction as one list.

    A list has at most `most_events` of them, and ends where it reaches `most_bytes` of the binlog.
    """
    run: list[RowsEvent] = []
    size_bytes = 0
    for item in items:
        if type(item) is RowsEvent:
            if run and (item.table is not run[0].table or item.header_time_s != run[0].header_time_s):
                yield run
                run, size_bytes = [], 0
            run.append(item)
            size_bytes += item.size_bytes
            if len(run) < most_events and size_bytes < most_bytes:
                continue
        if run:
            yield run
            run, size_bytes = [], 0
        if not isinstance(item, RowsEvent):
            yield item
    if run:
        yield run
