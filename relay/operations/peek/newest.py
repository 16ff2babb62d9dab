"""Reads the newest rows of a table: backwards through a topic in growing steps, up to a limit of
time and offsets.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from relay.deadline import Deadline
from relay.kafka import PartitionRange, TailRecord, TopicTail
from relay.operations.peek.question import PeekQuestion
from relay.operations.peek.rows import PeekedRow, RowReader

_FIRST_STEP: Final = 200
_GROWTH: Final = 8
_MOST_RECORDS: Final = 50_000
_SECONDS: Final = 4.0
_POLL_SECONDS: Final = 0.25
_POLL_RECORDS: Final = 2000


@dataclass(frozen=True, slots=True)
class PeekPage:
    """Existing rows, the newest first.

    after     partition → offset from which later rows are read
    complete  whether the whole topic was searched
    searched  how many offsets were searched
    """

    rows: tuple[PeekedRow, ...]
    after: Mapping[int, int]
    complete: bool
    searched: int


def newest_rows(
    tail: TopicTail,
    ranges: Mapping[int, PartitionRange],
    wanted: tuple[RowReader, PeekQuestion],
    count: int,
) -> PeekPage:
    """Return at most `count` rows of the topic that match the question in `wanted`, the newest
    first.

    `ranges` are the offsets of each partition. The search ends after some seconds or 50,000
    offsets; the page is then not `complete`. Raises the errors of `TopicTail`.
    """
    deadline, step = Deadline.after(_SECONDS), _FIRST_STEP
    ends = {number: each.end for number, each in ranges.items()}
    while True:
        starts = {number: max(each.first, each.end - step) for number, each in ranges.items()}
        rows = _rows_between(tail, wanted, starts, ends, deadline)
        searched = sum(ends[number] - starts[number] for number in ends)
        complete = all(starts[number] == each.first for number, each in ranges.items())
        if len(rows) >= count or complete or deadline.passed or searched >= _MOST_RECORDS:
            break
        step = min(step * _GROWTH, max(step + 1, _MOST_RECORDS // max(1, len(ranges))))
    rows.sort(key=lambda each: (each.at_ms, each.offset, each.row), reverse=True)
    return PeekPage(tuple(rows[:count]), ends, complete and not deadline.passed, searched)


def _rows_between(
    tail: TopicTail,
    wanted: tuple[RowReader, PeekQuestion],
    starts: Mapping[int, int],
    ends: Mapping[int, int],
    deadline: Deadline,
) -> list[PeekedRow]:
    reader, question = wanted
    open_ones = {number for number, start in starts.items() if start < ends[number]}
    rows: list[PeekedRow] = []
    tail.start({number: starts[number] for number in open_ones})
    while open_ones and not deadline.passed:
        read = tail.read(_POLL_RECORDS, _POLL_SECONDS)
        for record in read.records:
            if record.offset < ends[record.partition]:
                rows += filter(question.accepts, reader.rows(record))
        open_ones -= read.ended
        open_ones -= {each.partition for each in read.records if _is_last(each, ends)}
    return rows


def _is_last(record: TailRecord, ends: Mapping[int, int]) -> bool:
    return record.offset >= ends[record.partition] - 1
