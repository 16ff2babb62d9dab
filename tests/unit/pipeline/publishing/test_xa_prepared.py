"""Rows of prepared transactions are given back as they were kept, from memory or from their
topic.
"""

import tracemalloc
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.decode import parse_table_map
from relay.errors import PositionUnreadable, PreparedUnknown
from relay.kafka import Record
from relay.model.change import PreparedRows, RawRows, XaAction, XaStep
from relay.model.message import OutboundMessage
from relay.model.positions.position import BinlogPosition
from relay.model.table import Column, ColumnType, Logged, TableId, TableMap
from relay.pipeline.publishing.xa_prepared import PreparedTransactions
from relay.position import EventPart, RecordKeys
from relay.position.prepared_index import NOTE
from relay.position.prepared_record import from_bytes, read_key, record_key, to_bytes
from tests.unit.decode.event_bytes import WrittenColumn, WrittenTable, image, rows_body

TABLE = WrittenTable((WrittenColumn(ColumnType.LONG),), named=False)
NAMED_TABLE = WrittenTable(
    (WrittenColumn(ColumnType.LONG, name="id", nullable=False, unsigned=False),), primary_key=(0,)
)
NAMED = TableMap(
    TableId("shop", "orders"), (Column("n", ColumnType.LONG, nullable=True),), logged=Logged.FULL
)
COMMIT = XaStep(XaAction.COMMIT, "x", BinlogPosition("b.1", 900))


class Topic:
    """What the messages leave in the topic, by offset; `records` are those that compaction
    leaves.
    """

    def __init__(self) -> None:
        self.log: list[tuple[bytes, bytes | None]] = []

    @property
    def records(self) -> dict[bytes, bytes]:
        return {key: value for key, value in dict(self.log).items() if value is not None}

    def ensure_topic(self) -> bool:
        return False

    def ends(self) -> tuple[int, int]:
        return 0, len(self.log)

    def between(self, first: int, end: int) -> Generator[Record, None, None]:
        for offset in range(first, end):
            key, value = self.log[offset]
            newer = any(later == key for later, _ in self.log[offset + 1 :])
            if not (self.compacted and newer):
                yield offset, key, value

    compacted = False

    def message(self, key: bytes, value: bytes | None) -> OutboundMessage:
        self.log.append((key, value))
        return OutboundMessage("xa", 0, key, value, ())


class CompactedTopic(Topic):
    """Only the newest record of each key is there."""

    compacted = True


@pytest.fixture(params=[Topic, CompactedTopic])
def topic(request: pytest.FixtureRequest) -> Any:
    return request.param()


def rows(body: bytes) -> PreparedRows:
    return PreparedRows(
        RawRows(TABLE.map_body(), body, 30, 1_700_000_000, BinlogPosition("b.1", 2**40), True),
        NAMED,
    )


def test_a_record_comes_back_as_it_was() -> None:
    kept = rows(b"\0\1body")
    assert from_bytes(to_bytes(kept)) == kept
    with pytest.raises(PositionUnreadable):
        from_bytes(b"\2" + to_bytes(kept)[1:])
    with pytest.raises(PositionUnreadable):
        from_bytes(b"short")


def given_back(prepared: PreparedTransactions) -> list[tuple[str, list[object]]]:
    """Names of columns and values, event by event."""
    prepared.find_committed()
    events = list(prepared.rows(COMMIT))
    return [
        (
            event.table.columns[0].name,
            [change.after[0] for change in event.rows if change.after is not None],
        )
        for event in events
    ]


def bodies(*numbers: int) -> list[PreparedRows]:
    return [rows(rows_body(1, image([number.to_bytes(4, "little")]))) for number in numbers]


def keep(prepared: PreparedTransactions, events: list[PreparedRows]) -> None:
    prepared.begin("x")
    for number, event in enumerate(events, 1):
        list(prepared.keep("x", number, event))
    prepared.prepared("x")


def test_rows_come_from_memory_and_from_the_topic_alike(topic: Any) -> None:
    first = PreparedTransactions(topic, 20)
    keep(first, bodies(7, 8, 9))
    other = PreparedTransactions(topic, 20)
    other.begin("y")
    list(other.keep("y", 1, bodies(1)[0]))
    expected = [("n", [7]), ("n", [8]), ("n", [9])]
    assert first.in_memory("x")
    assert given_back(first) == expected
    later = PreparedTransactions(topic, 20)
    assert not later.in_memory("x")
    assert given_back(later) == expected
    assert len(topic.records) > 6, "each event is kept in several parts"
    list(later.forgotten("x"))
    assert {read_key(key)[0] for key in topic.records} == {"y"}


def test_what_was_passed_over_is_read_back_with_the_rest(topic: Any) -> None:
    keep(PreparedTransactions(topic, 500), bodies(7))
    again = PreparedTransactions(topic, 500)
    again.begin("x")
    again.passed("x")
    list(again.keep("x", 2, bodies(8)[0]))
    again.prepared("x")
    assert not again.in_memory("x")
    assert given_back(again) == [("n", [7]), ("n", [8])]
    list(again.forgotten("x"))
    assert topic.records == {}


@pytest.mark.parametrize("size", [20, 500])
def test_records_that_an_earlier_transaction_of_the_xid_left_are_no_rows(
    topic: Any, size: int
) -> None:
    keep(PreparedTransactions(topic, size), bodies(1, 2, 3, 4))
    keep(PreparedTransactions(topic, size), bodies(7, 8))
    later = PreparedTransactions(topic, size)
    assert given_back(later) == [("n", [7]), ("n", [8])]
    list(later.forgotten("x"))
    assert topic.records == {}


@pytest.mark.parametrize("size", [20, 500])
def test_records_that_an_attempt_wrote_again_count_once(topic: Any, size: int) -> None:
    keep(PreparedTransactions(topic, size), bodies(7, 8, 9))
    again = PreparedTransactions(topic, size)
    again.begin("x")
    again.passed("x")
    for number, event in enumerate(bodies(8, 9), 2):
        list(again.keep("x", number, event))
    again.prepared("x")
    assert given_back(again) == [("n", [7]), ("n", [8]), ("n", [9])]


def test_a_commit_of_what_was_never_prepared_is_named(topic: Any) -> None:
    prepared = PreparedTransactions(topic, 100)
    prepared.find_committed()
    assert list(prepared.forgotten("x")) == []
    with pytest.raises(PreparedUnknown, match=r"x is committed at b\.1:900"):
        prepared.rows(COMMIT)
    keep(prepared, [])
    assert given_back(prepared) == []


def test_a_part_of_a_transaction_whose_prepare_was_not_read_is_no_transaction(topic: Any) -> None:
    """The position was moved past the XA PREPARE while a part of the rows was kept."""
    part = PreparedTransactions(topic, 500)
    part.begin("x")
    list(part.keep("x", 1, bodies(7)[0]))
    later = PreparedTransactions(topic, 500)
    later.find_committed()
    with pytest.raises(PreparedUnknown):
        later.rows(COMMIT)
    in_one_phase = COMMIT._replace(action=XaAction.COMMIT_AT_ONCE)
    assert len(list(later.rows(in_one_phase))) == 1, "its group has no PREPARE"
    list(later.forgotten("x"))
    assert topic.records == {}


def test_an_attempt_that_began_again_before_the_end_of_the_one_before_counts_from_there(
    topic: Any,
) -> None:
    """Without Kafka transactions, records of an attempt stay that no position record came after."""
    keep(PreparedTransactions(topic, 500), bodies(1, 2, 3, 4, 5))
    half = PreparedTransactions(topic, 500)
    half.begin("x")
    for number, event in enumerate(bodies(7, 8, 9), 1):
        list(half.keep("x", number, event))
    again = PreparedTransactions(topic, 500)
    again.begin("x")
    again.passed("x")
    list(again.keep("x", 2, bodies(8)[0]))
    list(again.keep("x", 3, bodies(9)[0]))
    again.prepared("x")
    later = PreparedTransactions(topic, 500)
    assert given_back(later) == [("n", [7]), ("n", [8]), ("n", [9])]
    list(later.forgotten("x"))
    assert topic.records == {}, "what the earlier transaction of this xid left is taken away too"


def test_a_later_transaction_of_the_xid_whose_prepare_was_not_read_is_none(topic: Any) -> None:
    """The note of the earlier one, which may be skipped, says nothing about it."""
    earlier = PreparedTransactions(topic, 500)
    keep(earlier, bodies(1, 2))
    earlier.prepared("x", skipped=True)
    part = PreparedTransactions(topic, 500)
    part.begin("x")
    list(part.keep("x", 1, bodies(7)[0]))
    later = PreparedTransactions(topic, 500)
    later.find_committed()
    with pytest.raises(PreparedUnknown):
        later.rows(COMMIT)
    list(later.forgotten("x"))
    assert topic.records == {}, "a note that stays is one of a transaction without rows"


@pytest.mark.parametrize("skipped", [False, True])
def test_the_newest_note_says_whether_the_prepare_was_skipped(topic: Any, skipped: bool) -> None:
    prepared = PreparedTransactions(topic, 500)
    keep(prepared, bodies(7))
    prepared.prepared("x", skipped=not skipped)
    prepared.prepared("x", skipped=skipped)
    later = PreparedTransactions(topic, 500)
    for each in (prepared, later):
        assert given_back(each) == [("n", [7])]
        assert each.is_skipped(COMMIT) == skipped
        assert not each.is_skipped(COMMIT._replace(action=XaAction.COMMIT_AT_ONCE))
    list(later.forgotten("x"))
    assert topic.records == {}


def test_a_note_of_a_later_version_stops() -> None:
    topic: Any = Topic()
    prepared = PreparedTransactions(topic, 500)
    keep(prepared, bodies(7))
    topic.log.append((record_key("x", NOTE), b'{"new":1}'))
    with pytest.raises(PositionUnreadable, match="new"):
        PreparedTransactions(topic, 500).find_committed()


def test_a_transaction_that_is_finished_is_not_found_again(topic: Any) -> None:
    prepared = PreparedTransactions(topic, 20)
    keep(prepared, bodies(7))
    keep_other = PreparedTransactions(topic, 20)
    assert given_back(keep_other) == [("n", [7])]
    list(prepared.forgotten("x"))
    keep_other.find_committed()
    with pytest.raises(PreparedUnknown):
        keep_other.rows(COMMIT)


def test_a_record_that_is_missing_is_a_stop() -> None:
    topic: Any = Topic()
    keep(PreparedTransactions(topic, 500), bodies(7, 8, 9))
    later = PreparedTransactions(topic, 500)
    later.find_committed()
    topic.log[1] = (b'["other",1,0]', b"")
    with pytest.raises(PositionUnreadable, match="missing"):
        list(later.rows(COMMIT))


@given(st.lists(st.integers(1, 4), max_size=40), st.integers(1, 5))
def test_runs_of_keys_give_back_every_record(parts: list[int], first: int) -> None:
    expected = [
        EventPart(number, part)
        for number, count in enumerate(parts, first)
        for part in range(count)
    ]
    keys = RecordKeys()
    for each in expected:
        keys.add(each)
    assert list(keys) == expected


class LongTopic:
    """A topic of two prepared transactions whose records are made when they are read."""

    def __init__(self, events: int) -> None:
        self.events = events
        self._map = parse_table_map(NAMED_TABLE.map_body(), mariadb=False)
        self._body = rows_body(1, *[image((b"\1\0\0\0",))] * 1600)

    def ensure_topic(self) -> bool:
        return False

    def ends(self) -> tuple[int, int]:
        return 0, 2 * self.events + 1

    def between(self, first: int, end: int) -> Generator[Record, None, None]:
        for offset in range(first, end):
            if offset == 2 * self.events:
                yield offset, record_key("x", NOTE), b"{}"
                continue
            xid, number = (
                ("other", offset + 1) if offset < self.events else ("x", offset - self.events + 1)
            )
            raw = RawRows(
                NAMED_TABLE.map_body(),
                bytes(bytearray(self._body)),
                30,
                0,
                BinlogPosition("b.1", offset),
                False,
            )
            yield offset, record_key(xid, number), to_bytes(PreparedRows(raw, self._map))

    def message(self, key: bytes, value: bytes | None) -> OutboundMessage:
        return OutboundMessage("xa", 0, key, value, ())


@pytest.mark.slow
def test_rows_are_read_from_the_topic_without_being_kept() -> None:
    topic: Any = LongTopic(3000)
    prepared = PreparedTransactions(topic, 500_000)
    tracemalloc.start()
    try:
        prepared.find_committed()
        assert sum(1 for _ in prepared.rows(COMMIT)) == 3000
        assert sum(1 for _ in prepared.forgotten("x")) == 3001
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000, "each of the two transactions has 24 MB"
