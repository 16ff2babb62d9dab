"""The steps of a commit, in their order: what a batch holds, what its record says, and when the
next one may be asked for.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, Final

import orjson
import pytest

from relay.audit import AuditEntry
from relay.decode import RowDecoder
from relay.errors import BatchAborted, MappingLost
from relay.model.change import RowsEvent, Statement, StreamItem, TransactionBegin, TransactionEnd
from relay.model.message import OutboundMessage
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord
from relay.pipeline.buffer import Chunk
from relay.pipeline.checkpoint.part_guard import PartGuard
from relay.pipeline.delivery import instance_stats
from relay.pipeline.publishing.publisher import Publisher
from tests.support.rows.publishers import SentMessages, Surroundings, publisher_without_servers
from tests.unit.decode.event_bytes import WrittenColumn, WrittenTable, image, raw_rows, rows_body
from tests.unit.route.mappings import documents, router

IDENTITY: Final = SourceIdentity("", 1, 0)
RECORD: Final = PositionRecord(
    SourcePosition(BinlogPosition("b.1", 4), "", IDENTITY),
    OrderPair(0, 0),
    epoch=0,
    change_time_ms=0,
)
MAPPING: Final = router(
    documents(
        dbs=[{"logicDb": "shop", "realDbs": "shop"}], topics=[{"logicDb": "shop", "topic": "shop"}]
    )
)
TABLE: Final = WrittenTable(
    [WrittenColumn(3, name="id")], primary_key=(0,), database="shop", table="orders"
)
ALTER: Final = "ALTER TABLE orders ADD x INT"


class Journal(Surroundings):
    """Surroundings that give every kind of message that a record has beside it, and note what is
    asked of them.
    """

    def __init__(self) -> None:
        super().__init__(MAPPING, {"shop": 1})
        self.steps: list[str] = []
        self.records: list[PositionRecord] = []
        self.names = self
        self.lost = False

    def message(self, record: PositionRecord | AuditEntry) -> OutboundMessage:
        if isinstance(record, AuditEntry):
            return OutboundMessage("audit", 0, None, record.act.encode(), ())
        self.records.append(record)
        return OutboundMessage("position", 0, b"x", b"record", ())

    def history_messages(self, record: PositionRecord, _: int) -> list[OutboundMessage]:  # type: ignore[override]
        assert record.kept_mappings == {"digest": 1}
        return [OutboundMessage("position", 0, b"x/m0001", b"history", ())]

    def keep_mappings(
        self, record: PositionRecord, _: object
    ) -> tuple[PositionRecord, list[OutboundMessage]]:
        kept = OutboundMessage("position", 0, b"x:mapping:digest/0", b"mapping", ())
        return replace(record, kept_mappings={"digest": 1}), [kept]

    def taken(self, position: BinlogPosition) -> list[OutboundMessage]:
        return [OutboundMessage("schema", 0, b"names", str(position).encode(), ())]

    def renew(self, *_: object) -> bool:
        if self.lost:
            raise MappingLost("The mapping set is gone.")
        return False


class JournalGuard(PartGuard):
    """Notes when a part is guarded."""

    def __init__(self, steps: list[str]) -> None:
        self._steps = steps

    def reads_first(self, *_: object) -> bool:
        return False

    def before_part(self, source: str, begin: TransactionBegin) -> None:
        self._steps.append(f"guard {source}{begin.position.offset}")


class Broker(SentMessages):
    """A producer that notes its batches; while `answers` is False, commits wait for `answer`."""

    def __init__(self, steps: list[str]) -> None:
        super().__init__()
        self._steps = steps
        self.answers = True
        self.unanswered: Future[None] | None = None
        self.batches: list[list[OutboundMessage]] = []
        self.overlapping: list[int] = []  # the numbers of batches that the next one may overlap
        self.by_turns = False
        self._overlapped = False

    @property
    def needs_barrier(self) -> bool:
        return self.by_turns and self._overlapped

    def commit_barrier(
        self, record: OutboundMessage, beside: Sequence[OutboundMessage]
    ) -> "Future[None]":
        assert not self.messages
        self._overlapped = False
        self._steps.append("barrier")
        return super().commit_barrier(record, beside)

    def commit_overlapping(
        self, record: OutboundMessage, free: Callable[[], object]
    ) -> "Future[None]":
        self.overlapping.append(len(self.batches))
        self._overlapped = True
        return super().commit_overlapping(record, free)

    def send(self, message: OutboundMessage) -> None:
        assert self.unanswered is None, "a producer has one transaction at a time"
        super().send(message)

    def commit(self, record: OutboundMessage) -> "Future[None]":
        super().commit(record)
        self.batches.append(self.messages)
        self.messages = []
        self._steps.append("commit")
        answer: Future[None] = Future()
        if self.answers:
            answer.set_result(None)
        else:
            self.unanswered = answer
        return answer

    def answer(self, error: Exception | None = None) -> None:
        answer, self.unanswered = self.unanswered, None
        assert answer is not None
        if error is None:
            answer.set_result(None)
        else:
            answer.set_exception(error)


class Published:
    """A publisher without servers, and what it asked of them."""

    def __init__(
        self,
        record: PositionRecord = RECORD,
        ddl: str = "inline",
        transaction: Mapping[str, object] | None = None,
    ) -> None:
        self.journal = Journal()
        self.broker = Broker(self.journal.steps)
        guard = JournalGuard(self.journal.steps)
        self.publisher: Publisher = publisher_without_servers(
            record,
            self.broker,
            MAPPING,
            {},
            transaction=transaction,
            parts=guard,
            surroundings=self.journal,
            ddl=ddl,
        )

    def take(self, *items: StreamItem) -> None:
        self.publisher.take(Chunk([*items]))

    def idle(self) -> None:
        self.publisher.checkpoint.commit_if_due(idle=True)

    @property
    def batches(self) -> list[list[str]]:
        """What each batch holds: rows by their id, statements by their kind, other messages by
        their value.
        """
        return [[_shown(each) for each in batch] for batch in self.broker.batches]

    @property
    def committed(self) -> list[PositionRecord]:
        """The last record that Kafka confirmed, if there is one."""
        record = self.publisher.stats.record
        return [] if record is None else [record]

    @property
    def splits(self) -> list[int | None]:
        """How many changes of the open transaction each record counts as published.

        None where it is whole.
        """
        return [
            None if each.split is None else each.split.items_done for each in self.journal.records
        ]


def _shown(message: OutboundMessage) -> str:
    value = message.value or b""
    if message.topic != "shop":
        return value.decode()
    fields: Mapping[str, Any] = orjson.loads(value)
    return "statement" if fields["isDdl"] else str(fields["data"][0]["id"])


BESIDE: Final = ["history", "mapping"]


def batch(*messages: str, end: int) -> list[str]:
    """Return a batch that ends at an offset."""
    return [*messages, *BESIDE, f"b.1:{end}", "record"]


def begin(number: int) -> TransactionBegin:
    return TransactionBegin(
        BinlogPosition("b.1", 100 * number), f"0-1-{number}", None, 1_767_225_600
    )


def end(number: int) -> TransactionEnd:
    return TransactionEnd(BinlogPosition("b.1", 100 * number + 99), f"0-1-{number}", IDENTITY)


_DECODER: Final = RowDecoder()


def row(key: int) -> RowsEvent:
    return _DECODER.open(
        raw_rows(TABLE.map_body(), rows_body(1, image([key.to_bytes(4, "little")])))
    )


def statement() -> Statement:
    return Statement(ALTER, "shop", 1_767_225_600, BinlogPosition("b.1", 7))


def transaction(number: int, *keys: int) -> Iterator[StreamItem]:
    yield begin(number)
    yield from map(row, keys)
    yield end(number)


def test_rows_come_first_then_what_is_kept_beside_the_record_then_the_record() -> None:
    published = Published(replace(RECORD, skips=("0-1-1",)))
    published.take(*transaction(1, 10), *transaction(2, 20, 21))
    published.idle()
    assert published.batches == [["20", "21", "transaction.skipped", *BESIDE, "b.1:299", "record"]]
    (record,) = published.journal.records
    assert (record.partitions, record.kept_mappings, record.skips, record.split) == (
        {"shop": 1},
        {"digest": 1},
        (),
        None,
    )
    assert record.source.binlog == end(2).position


def test_a_batch_takes_its_entries_along_once() -> None:
    published = Published(replace(RECORD, skips=("0-1-1",)))
    published.take(*transaction(1, 10), *transaction(2, 20))
    published.idle()
    published.take(*transaction(3, 30))
    published.idle()
    assert published.batches[1] == batch("30", end=399)


def test_a_part_is_guarded_before_its_record_counts_it() -> None:
    published = Published(transaction={"split_bytes": 65_536})
    published.take(begin(1), row(10), row(11))
    published.publisher.checkpoint.commit_part()
    published.take(row(12), end(1))
    published.idle()
    assert published.journal.steps == ["guard 100", "commit", "commit"]
    assert published.batches == [batch("10", "11", end=4), batch("12", end=199)]
    assert published.splits == [2, None]


def test_a_part_without_changes_is_no_part() -> None:
    published = Published()
    published.take(begin(1))
    published.publisher.checkpoint.commit_part()
    assert (published.journal.steps, published.splits) == (["commit"], [None])


def test_what_was_sent_before_a_statement_is_committed_without_it() -> None:
    published = Published()
    published.take(begin(1), row(10), statement(), row(11), statement(), end(1))
    published.idle()
    assert published.journal.steps == ["guard 100", "commit", "guard 100", "commit", "commit"]
    assert published.batches == [
        batch("10", end=4),
        batch("statement", "11", end=4),
        batch("statement", end=199),
    ]
    assert published.splits == [1, 3, None]


def test_a_statement_and_what_was_sent_before_it_do_not_overlap_the_next_batch() -> None:
    published = Published()
    published.take(begin(1), row(10), statement(), end(1))
    published.idle()
    published.take(*transaction(2, 20))
    published.idle()
    assert published.batches == [
        batch("10", end=4),
        batch("statement", end=199),
        batch("20", end=299),
    ]
    assert published.broker.overlapping == [2]


@pytest.mark.parametrize("rows_before", [True, False])
def test_two_ids_pass_a_barrier_before_a_statement(rows_before: bool) -> None:
    published = Published()
    published.broker.by_turns = True
    published.take(*transaction(1, 10))
    published.idle()
    published.take(begin(2), *([row(20)] if rows_before else []), statement(), end(2))
    published.idle()
    steps = [each for each in published.journal.steps if not each.startswith("guard")]
    # Without a barrier in between, the ends of the first batch may come after the statement.
    assert steps == ["commit", *(["commit"] if rows_before else []), "barrier", "commit", "commit"]
    assert published.batches[-2:] == [
        batch(end=199),
        batch("statement", end=299),
    ]
    published.take(begin(3), statement(), end(3))
    published.idle()
    assert published.journal.steps.count("barrier") == 1, "nothing overlapped since"


def test_a_statement_does_not_wait_for_what_follows() -> None:
    published = Published()
    published.take(*transaction(1, 10), begin(2), statement(), end(2), *transaction(3, 30))
    assert published.batches == [batch("10", end=199), batch("statement", end=299)]
    published.idle()
    assert published.batches[2:] == [batch("30", end=399)]


def test_one_commit_is_on_its_way_and_what_follows_joins_the_next_batch() -> None:
    published = Published()
    published.broker.answers = False
    published.take(*transaction(1, 10))
    published.idle()
    published.take(*transaction(2, 20))
    published.idle()
    published.take(*transaction(3, 30))
    published.idle()
    assert published.batches == [batch("10", end=199)]
    assert published.committed == []
    published.broker.answer()
    published.idle()
    assert published.batches[1:] == [batch("20", "30", end=399)]
    assert published.committed == published.journal.records[:1]
    assert published.publisher.stats.totals.published_rows == 1


def test_what_an_answer_says_ends_the_session_before_another_commit() -> None:
    published = Published()
    published.broker.answers = False
    published.take(*transaction(1, 10))
    published.idle()
    published.take(*transaction(2, 20))
    published.broker.answer(BatchAborted("The broker is gone."))
    with pytest.raises(BatchAborted):
        published.idle()
    assert len(published.batches) == 1
    assert published.committed == []


NOW_S: Final = 1_767_225_600 + 900


@pytest.fixture
def quarter_of_an_hour_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answers come 900 s after the header of the first transaction."""
    monkeypatch.setattr(instance_stats, "time", lambda: float(NOW_S))


def ages(published: Published) -> list[float]:
    published.publisher.checkpoint.await_commit()
    return list(published.publisher.stats.totals.publish_seconds)


@pytest.mark.usefixtures("quarter_of_an_hour_later")
def test_the_age_of_a_batch_is_that_of_its_oldest_transaction() -> None:
    published = Published()
    later = TransactionBegin(BinlogPosition("b.1", 200), "0-1-2", None, NOW_S - 60)
    published.take(*transaction(1, 10), later, row(20), end(2))
    published.idle()
    published.take(later, row(30), end(3))
    published.idle()
    assert ages(published) == [900.0, 60.0]


@pytest.mark.usefixtures("quarter_of_an_hour_later")
def test_the_last_part_of_a_split_transaction_has_the_age_of_its_begin() -> None:
    published = Published(transaction={"split_bytes": 65_536})
    published.take(begin(1), row(10))
    published.publisher.checkpoint.commit_part()
    published.take(row(12), end(1))
    published.idle()
    assert ages(published) == [900.0, 900.0]


@pytest.mark.usefixtures("quarter_of_an_hour_later")
def test_a_batch_that_only_moves_the_position_has_no_age() -> None:
    published = Published()
    published.take(*transaction(1))
    published.publisher.checkpoint.commit_open()
    assert (len(published.batches), ages(published)) == (1, [])


def test_a_guard_that_refuses_leaves_no_part_in_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    published = Published()
    published.take(begin(1), row(10))

    def refuses(*_: object) -> None:
        raise BatchAborted("Rows were rolled back.")

    monkeypatch.setattr(JournalGuard, "before_part", refuses)
    with pytest.raises(BatchAborted):
        published.publisher.checkpoint.commit_part()
    assert (published.batches, published.publisher.progress.record.split) == ([], None)


def test_what_is_open_is_committed_before_a_lost_mapping_ends_the_session() -> None:
    published = Published()
    published.take(*transaction(1, 10))
    published.journal.lost = True
    with pytest.raises(MappingLost):
        published.take(*transaction(2, 20))
    assert published.batches == [batch("10", end=199)]
    with pytest.raises(MappingLost):
        published.take(*transaction(2, 20))
    assert len(published.batches) == 1, "nothing is open"


def test_messages_carry_the_number_of_their_batch() -> None:
    published = Published()
    for number in (1, 2):
        published.take(*transaction(number, 10 * number))
        published.idle()
    rows = [
        orjson.loads(each.value or b"")
        for batch in published.broker.batches
        for each in batch
        if each.topic == "shop"
    ]
    assert [each["id"] for each in rows] == [1, 2]


def test_the_start_is_committed_before_any_row() -> None:
    published = Published()
    published.publisher.checkpoint.commit_start()
    assert published.batches == [batch(end=4)]
    assert published.committed == published.journal.records
