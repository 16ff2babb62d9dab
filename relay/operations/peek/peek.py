"""Reads a table's messages for one reader: first the existing rows, then new ones."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Final

from relay.errors import NothingToPeek
from relay.kafka import PartitionRange, TopicTail
from relay.operations.peek.newest import PeekPage, newest_rows
from relay.operations.peek.pace import FILTERED_ROWS_PER_SECOND, ROWS_PER_SECOND, RowPace
from relay.operations.peek.question import NEWEST_ROWS, FromMoment, FromNewest, PeekQuestion
from relay.operations.peek.rows import PeekedRow, RowReader
from relay.settings import KafkaSettings

_POLL_SECONDS: Final = 0.25
_RECORDS_PER_POLL: Final = 2500
"""Limits a reader to 10,000 records a second, whatever the rate of the topic."""
_MOST_BEHIND: Final = 20_000
"""A reader without a key filter that is more than this number of offsets behind skips to the
end.
"""
_NOT_THERE: Final = "A relay makes the topic when it starts the instance; start it first."


@dataclass(frozen=True, slots=True)
class PeekBatch:
    """The result of one poll.

    rows     the rows to show
    seen     how many rows of the table were read and match the question
    skipped  how many offsets were not read, because messages arrive faster than they can be shown
    after    partition → offset where reading continues; None while rows still wait to be shown
    """

    rows: tuple[PeekedRow, ...] = ()
    seen: int = 0
    skipped: int = 0
    after: Mapping[int, int] | None = None


class Peek:
    """Reads one topic of a table with one Kafka consumer. Only one thread at a time may use it, and
    the caller must close it.
    """

    def __init__(
        self,
        kafka: KafkaSettings,
        reader: RowReader,
        question: PeekQuestion,
        now_s: Callable[[], float] = monotonic,
    ) -> None:
        self._reader = reader
        self._question = question
        self._now_s = now_s
        self._tail = TopicTail(kafka, reader.topic)
        self._waiting: deque[PeekedRow] = deque()
        self._per_second = FILTERED_ROWS_PER_SECOND if question.key else ROWS_PER_SECOND
        self._pace = RowPace(self._per_second, self._per_second, now_s())

    def page(self, count: int = NEWEST_ROWS) -> PeekPage:
        """Return up to `count` existing rows: the first ones after the start time of the question
        if it has one, otherwise the newest.

        Raises NothingToPeek if Kafka does not have the topic, BrokerUnreachable, KafkaNotPermitted,
        TopicRefused.
        """
        if isinstance(self._question.start, FromMoment):
            return self._since(self._question.start.at_ms, count)
        return self._newest(self._ranges(), count)

    def start(self, after: Mapping[int, int] | None = None) -> PeekBatch:
        """Begin to read, and return the existing rows if the question asks for them.

        `after` maps each partition to the offset at which an earlier reader stopped; None: the
        question says where to start. Raises NothingToPeek, BrokerUnreachable, KafkaNotPermitted,
        TopicRefused.
        """
        ranges, start = self._ranges(), self._question.start
        if after is not None:
            at = {
                number: min(max(after.get(number, each.first), each.first), each.end)
                for number, each in ranges.items()
            }
        elif isinstance(start, FromNewest):
            page = self._newest(ranges, NEWEST_ROWS)
            self._tail.start(page.after)
            return PeekBatch(tuple(reversed(page.rows)), len(page.rows), 0, dict(page.after))
        elif isinstance(start, FromMoment):
            at = self._tail.offsets_at(start.at_ms, ranges)
            self._pace = RowPace(self._per_second, NEWEST_ROWS, self._now_s())
        else:
            at = {number: each.end for number, each in ranges.items()}
        self._tail.start(at)
        return PeekBatch(after=at)

    def poll(self) -> PeekBatch:
        """Read for a short time, and return the rows that may be shown now.

        Raises BrokerUnreachable, KafkaNotPermitted, TopicRefused.
        """
        seen = 0
        if not self._waiting:
            read = self._tail.read(_RECORDS_PER_POLL, _POLL_SECONDS)
            found = [
                row
                for record in read.records
                for row in self._reader.rows(record)
                if self._question.accepts(row)
            ]
            seen = len(found)
            self._waiting.extend(found)
        shown = self._shown()
        skipped = 0
        if not self._question.key:
            self._waiting.clear()
            skipped = self._skip()
        after = None if self._waiting else self._tail.positions()
        return PeekBatch(tuple(shown), seen, skipped, after)

    @property
    def rests(self) -> bool:
        """Return whether there are rows that were read and not yet shown; `poll` then returns
        without waiting.
        """
        return bool(self._waiting)

    def row_at(self, partition: int, offset: int, row: int) -> PeekedRow | None:
        """Return the row with the number `row` in the message at this offset; None if it has no
        such row of the table.

        Raises NothingToPeek, BrokerUnreachable, KafkaNotPermitted, TopicRefused.
        """
        here = self._ranges().get(partition)
        if here is None or not here.first <= offset < here.end:
            return None
        self._tail.start({partition: offset})
        until_s = self._now_s() + 3
        while self._now_s() < until_s:
            read = self._tail.read(1, _POLL_SECONDS)
            if read.records:
                rows = self._reader.rows(read.records[0])
                is_there = read.records[0].offset == offset and row < len(rows)
                return rows[row] if is_there else None
            if read.ended:
                return None
        return None

    def close(self) -> None:
        """Close the consumer."""
        self._tail.close()

    def _newest(self, ranges: Mapping[int, PartitionRange], count: int) -> PeekPage:
        return newest_rows(self._tail, ranges, (self._reader, self._question), count)

    def _since(self, at_ms: int, count: int) -> PeekPage:
        ranges = self._ranges()
        at = self._tail.offsets_at(at_ms, ranges)
        self._tail.start(at)
        rows: list[PeekedRow] = []
        until_s, ended = self._now_s() + 4, set[int]()
        while len(rows) < count and len(ended) < len(ranges) and self._now_s() < until_s:
            read = self._tail.read(count, _POLL_SECONDS)
            ended |= read.ended
            rows += [
                row
                for record in read.records
                for row in self._reader.rows(record)
                if self._question.accepts(row)
            ]
        after = self._tail.positions()
        searched = sum(after[number] - at[number] for number in after)
        return PeekPage(tuple(reversed(rows)), after, len(ended) == len(ranges), searched)

    def _ranges(self) -> dict[int, PartitionRange]:
        ranges = self._tail.ranges()
        if not ranges:
            raise NothingToPeek(f"Kafka has no topic {self._reader.topic} yet.", remedy=_NOT_THERE)
        return ranges

    def _shown(self) -> list[PeekedRow]:
        count = self._pace.take(len(self._waiting), self._now_s())
        return [self._waiting.popleft() for _ in range(count)]

    def _skip(self) -> int:
        behind = self._tail.behind()
        if behind <= _MOST_BEHIND:
            return 0
        self._tail.start({number: each.end for number, each in self._ranges().items()})
        return behind
