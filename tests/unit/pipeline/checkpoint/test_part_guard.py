"""A transaction in parts, of which rows were rolled back: every crash and every server shows the
rows that the source kept, once.
"""

import json
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event
from types import SimpleNamespace
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relay.decode import RowDecoder
from relay.errors import (
    BatchAborted,
    BinlogPurged,
    RolledBackRows,
    SavepointRolledBack,
    TransactionUnread,
)
from relay.model import event_types as types
from relay.model.change import RawRows, TransactionBegin
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord, SplitProgress
from relay.pipeline.buffer import Chunk
from relay.pipeline.checkpoint.part_guard import GuardedSource, PartGuard
from relay.pipeline.rollback_memory import RolledBack
from relay.settings import SourceSettings
from relay.source import ExcludedRange
from relay.source.events.binlog_event import BinlogEvent
from relay.source.events.transaction_assembler import TransactionAssembler
from tests.support.rows.publishers import SentMessages, publisher_without_servers
from tests.unit.decode.event_bytes import WRITE_V2, WrittenColumn, WrittenTable, image, rows_body
from tests.unit.route.mappings import documents, router
from tests.unit.source.binlog_bytes import Feed, mariadb_gtid_body, query_body

MAPPING: Final = router(
    documents(
        dbs=[{"logicDb": "shop", "realDbs": "shop"}], topics=[{"logicDb": "shop", "topic": "shop"}]
    )
)
TABLE: Final = WrittenTable(
    [WrittenColumn(type=3, name="id", nullable=False, unsigned=False)], primary_key=(0,)
)
IDENTITY: Final = SourceIdentity("", 7, 0)
FILE: Final = "b.000001"
Part = tuple[int, str]
"""How many rows, and what follows them: nothing, a savepoint, or a rollback to the savepoint before
them.
"""


def file_start() -> list[BinlogEvent]:
    rotation = memoryview(struct.pack("<Q", 4) + FILE.encode())
    rotate = BinlogEvent(types.ROTATE, types.ARTIFICIAL_FLAG, 0, 7, 4, 4, rotation)
    return [rotate, BinlogEvent(types.FORMAT_DESCRIPTION, 0, 500, 7, 4, 4, memoryview(b""))]


def written(transaction: Sequence[Part]) -> tuple[list[BinlogEvent], list[int]]:
    """The events of a transaction, and the rows of it that the source kept."""
    feed, number = Feed(), 0
    events, kept, before = (
        [
            feed(types.MARIADB_GTID, mariadb_gtid_body(1)),
            feed(types.QUERY, query_body("SAVEPOINT s")),
        ],
        list[int](),
        0,
    )
    for rows, then in transaction:
        for _ in range(rows):
            number += 1
            kept.append(number)
            body = rows_body(1, image((struct.pack("<i", number),)), kind=WRITE_V2)
            events += [feed(types.TABLE_MAP, TABLE.map_body()), feed(types.WRITE_ROWS, body)]
        if then == "rollback":
            events.append(feed(types.QUERY, query_body("ROLLBACK TO SAVEPOINT s")))
            del kept[before:]
        elif then == "savepoint":
            events.append(feed(types.QUERY, query_body("SAVEPOINT s")))
            before = len(kept)
    return [*file_start(), *events, feed(types.XID, bytes(8))], kept


def scanned(events: Sequence[BinlogEvent]) -> tuple[ExcludedRange, ...]:
    found: list[ExcludedRange] = []
    assembler = TransactionAssembler(mariadb=True, identity=IDENTITY, found=found)
    for event in events:
        for _ in assembler.feed(event):
            pass
    return tuple(found)


def guard_of(
    known: RolledBack,
    find: Callable[[], "tuple[ExcludedRange, ...] | None"],
    cancelled: Callable[[], bool] = lambda: False,
    stop: Event | None = None,
    left_out: Sequence[ExcludedRange] | None = None,
) -> PartGuard:
    """The guard of a session whose stream leaves out these rows; None: all that are known."""
    stream = SimpleNamespace(left_out=frozenset(known.ranges if left_out is None else left_out))

    def asked(*each: Any) -> "tuple[ExcludedRange, ...] | None":
        return None if each[-1]() else find()

    source: Any = SimpleNamespace(stream=stream)
    server = SourceSettings.model_validate({"host": "h", "user": "u", "server_id": 7})
    guarded = {"": GuardedSource(server, source, known)}
    return PartGuard(guarded, 1, cancelled, stop or Event(), asked)


@dataclass
class Consumer:
    """A relay's sessions over one transaction; `visible` are the rows that a consumer reads."""

    events: Sequence[BinlogEvent]
    record: PositionRecord
    visible: list[int] = field(default_factory=list)

    def session(
        self,
        known: RolledBack,
        parts: Sequence[int],
        crash_at: int,
        guard: PartGuard,
        left_out: Sequence[ExcludedRange] | None = None,
    ) -> bool:
        """Read the transaction, commit a part behind each of these rows, crash before row
        `crash_at`; whether it came to the end. The stream leaves out `left_out`, None: all that
        is known.
        """
        excluded = known.ranges if left_out is None else left_out
        sent, rows = SentMessages(), 0
        publisher = publisher_without_servers(self.record, sent, MAPPING, {"shop": 1}, parts=guard)
        assembler, decoder = (
            TransactionAssembler(mariadb=True, identity=IDENTITY, excluded=excluded),
            RowDecoder(),
        )
        try:
            for event in self.events:
                for item in assembler.feed(event):
                    if isinstance(item, RawRows):
                        rows += 1
                        if rows == crash_at:
                            return False
                    publisher.take(
                        Chunk([decoder.open(item) if isinstance(item, RawRows) else item])
                    )
                    if rows in parts and isinstance(item, RawRows):
                        publisher.checkpoint.commit_part()
                        self._committed(sent, publisher.progress.record)
        except RolledBackRows as exc:
            known.leave_out(exc.ranges)
            return False
        except BatchAborted:
            return False
        publisher.checkpoint.commit_start()
        self._committed(sent, publisher.progress.record)
        return True

    def _committed(self, sent: SentMessages, record: PositionRecord) -> None:
        self.visible += [
            int(json.loads(each.value or b"")["data"][0]["id"])
            for each in sent.messages
            if each.topic == "shop"
        ]
        sent.messages.clear()
        self.record = record


def fresh() -> PositionRecord:
    return PositionRecord(
        SourcePosition(BinlogPosition(FILE, 4), "", IDENTITY),
        OrderPair(0, 0),
        epoch=1,
        change_time_ms=0,
    )


TRANSACTIONS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["", "savepoint", "rollback"])), max_size=6
)
SESSIONS = st.lists(
    st.tuples(st.sets(st.integers(1, 12)), st.integers(1, 14), st.booleans()), max_size=5
)


@given(TRANSACTIONS, SESSIONS)
@example(
    [(2, "rollback"), (3, "")], [({3}, 10, False), ({2}, 3, False), ({10, 12}, 14, True)]
)  # a takeover; no mapping set
def test_consumers_have_what_the_source_kept_once_and_in_order(
    transaction: list[Part], sessions: list[tuple[set[int], int, bool]]
) -> None:
    events, kept = written(transaction)
    consumer, known = Consumer(events, fresh()), RolledBack()
    for parts, crash_at, forgets in sessions:
        if forgets:  # another relay takes over
            known = RolledBack()
        if consumer.session(
            known, sorted(parts), crash_at, guard_of(known, lambda: scanned(events))
        ):
            break
        assert consumer.visible == kept[: len(consumer.visible)]
    else:
        while not consumer.session(known, (), 0, guard_of(known, lambda: scanned(events))):
            continue
    assert consumer.visible == kept


@given(TRANSACTIONS, SESSIONS)
@example([(1, ""), (2, "rollback"), (3, "")], [({2}, 9, False), ({2}, 9, True)])
def test_a_stream_that_lacks_what_is_known_publishes_no_part_with_rolled_back_rows(
    transaction: list[Part], sessions: list[tuple[set[int], int, bool]]
) -> None:
    """The stream after the spool was opened by another thread, maybe before the rows were known."""
    events, kept = written(transaction)
    consumer, known = Consumer(events, fresh()), RolledBack()
    for parts, crash_at, is_older in sessions:
        left_out = () if is_older else None
        guard = guard_of(known, lambda: scanned(events), left_out=left_out)
        if consumer.session(known, sorted(parts), crash_at, guard, left_out):
            break
        assert consumer.visible == kept[: len(consumer.visible)]
    else:
        while not consumer.session(known, (), 0, guard_of(known, lambda: scanned(events))):
            continue
    assert consumer.visible == kept


def test_what_is_known_of_one_epoch_is_not_left_out_in_the_next() -> None:
    known = RolledBack()
    known.continue_in(3, switches=False)
    known.leave_out([(FILE, 300, 0, 2)])
    known.read = begin().position
    known.continue_in(3, switches=False)
    assert known.of_transaction(begin().position) == [(FILE, 300, 0, 2)]
    known.continue_in(4, switches=False)  # an operator set the position after RESET MASTER
    assert not known.ranges
    assert known.read is None


@given(TRANSACTIONS, SESSIONS, st.integers(0, 4))
def test_after_a_purge_consumers_have_a_beginning_of_what_the_source_kept(
    transaction: list[Part], sessions: list[tuple[set[int], int, bool]], purged_after: int
) -> None:
    events, kept = written(transaction)
    consumer, known, looks = Consumer(events, fresh()), RolledBack(), iter(range(100))

    def find() -> tuple[ExcludedRange, ...]:
        if next(looks) >= purged_after:
            raise BinlogPurged("The file is gone.")
        return scanned(events)

    whole = stopped = False
    for parts, crash_at, forgets in sessions:
        if forgets:
            known = RolledBack()
        try:
            whole = consumer.session(known, sorted(parts), crash_at, guard_of(known, find))
        except BinlogPurged:
            stopped = True
        assert consumer.visible == kept[: len(consumer.visible)]
        if whole or stopped:
            break
    assert not whole or consumer.visible == kept


def begin() -> TransactionBegin:
    return TransactionBegin(BinlogPosition(FILE, 300), "0-1-1", None, 1)


def test_what_is_not_at_its_end_in_time_is_read_first_the_next_time_and_waited_for() -> None:
    known, answers = RolledBack(), [None, None, None, ()]
    guard = guard_of(known, lambda: answers.pop(0))
    with pytest.raises(TransactionUnread):
        guard.before_part("", begin())
    assert guard.reads_first("", begin(), None)
    guard.read("", begin(), None)
    assert (answers, guard.reads_first("", begin(), None)) == ([], False)
    guard.before_part("", begin())


def test_a_wait_for_the_end_is_given_up_when_the_instance_must_do_something_else() -> None:
    guard = guard_of(RolledBack(), lambda: (), cancelled=lambda: True)
    with pytest.raises(BatchAborted):
        guard.read("", begin(), None)


def test_a_stop_ends_the_rest_between_two_readings() -> None:
    stop, readings = Event(), list[None]()

    def unwritten() -> None:
        readings.append(None)
        stop.set()

    with pytest.raises(BatchAborted):
        guard_of(RolledBack(), unwritten, stop=stop).read("", begin(), None)
    assert len(readings) == 1


@pytest.mark.parametrize(
    ("kept", "error"),
    [(False, SavepointRolledBack), (True, BatchAborted)],
    ids=["former version", "this one"],
)
def test_a_part_of_a_former_version_may_count_rolled_back_rows(
    kept: bool, error: type[Exception]
) -> None:
    split = SplitProgress(begin().position, "0-1-1", 3, 1, 1, "c", without_rolled_back=kept)
    guard = guard_of(RolledBack(), lambda: ((FILE, 300, 1, 2),))
    assert guard.reads_first("", begin(), split)
    for _ in range(2):  # it stays so
        with pytest.raises(error):
            guard.read("", begin(), split)
        if error is BatchAborted:
            break


def test_what_a_reader_meets_meanwhile_is_not_left_out_yet() -> None:
    known, found = RolledBack(), (FILE, 300, 1, 2)
    guard = guard_of(known, lambda: (found,))
    known.leave_out([found])  # by a thread that reads ahead for a group
    with pytest.raises(BatchAborted):
        guard.before_part("", begin())
    guard_of(known, lambda: (found,)).before_part("", begin())
