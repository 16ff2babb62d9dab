"""Rows of prepared transactions are given back as they were kept, from memory or from their topic."""

from typing import Any

import pytest

from relay.errors import PositionUnreadable, PreparedUnknown
from relay.model.change import PreparedRows, RawRows, XaAction, XaStep
from relay.model.message import OutboundMessage
from relay.model.position import BinlogPosition
from relay.model.table import Column, ColumnType, Logged, TableId, TableMap
from relay.pipeline.prepared import PreparedTransactions
from relay.position.prepared_record import from_bytes, read_key, to_bytes
from tests.unit.decode.event_bytes import WrittenColumn, WrittenTable, image, rows_body

TABLE = WrittenTable((WrittenColumn(ColumnType.LONG),), named=False)
NAMED = TableMap(TableId("shop", "orders"), (Column("n", ColumnType.LONG, nullable=True),), logged=Logged.FULL)
COMMIT = XaStep(XaAction.COMMIT, "x", BinlogPosition("b.1", 900))


class Topic:
    """What the messages would leave in the topic."""

    def __init__(self) -> None:
        self.records: dict[bytes, bytes] = {}

    def ensure_topic(self) -> bool:
        return False

    def read(self) -> dict[bytes, bytes]:
        return dict(self.records)

    def message(self, key: bytes, value: bytes | None) -> OutboundMessage:
        if value is None:
            self.records.pop(key, None)
        else:
            self.records[key] = value
        return OutboundMessage("xa", 0, key, value, ())


def rows(body: bytes) -> PreparedRows:
    return PreparedRows(RawRows(TABLE.map_body(), body, 30, 1_700_000_000, BinlogPosition("b.1", 2**40), True), NAMED)


def test_a_record_comes_back_as_it_was() -> None:
    kept = rows(b"\0\1body")
    assert from_bytes(to_bytes(kept)) == kept
    with pytest.raises(PositionUnreadable):
        from_bytes(b"\2" + to_bytes(kept)[1:])
    with pytest.raises(PositionUnreadable):
        from_bytes(b"short")


def given_back(prepared: PreparedTransactions) -> list[tuple[str, list[object]]]:
    """Names of columns and values, event by event."""
    events = list(prepared.rows(COMMIT))
    return [(event.table.columns[0].name, [change.after[0] for change in event.rows if change.after is not None]) for event in events]


def bodies(*numbers: int) -> list[PreparedRows]:
    return [rows(rows_body(1, image([number.to_bytes(4, "little")]))) for number in numbers]


def keep(prepared: PreparedTransactions, events: list[PreparedRows]) -> None:
    prepared.begin("x")
    for number, event in enumerate(events, 1):
        list(prepared.keep("x", number, event))
    prepared.prepared("x")


def test_rows_come_from_memory_and_from_the_topic_alike() -> None:
    topic: Any = Topic()
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


def test_what_was_passed_over_is_read_back_with_the_rest() -> None:
    topic: Any = Topic()
    keep(PreparedTransactions(topic, 500), bodies(7))
    again = PreparedTransactions(topic, 500)
    again.begin("x")
    again.passed("x")
    list(again.keep("x", 2, bodies(8)[0]))
    assert not again.in_memory("x")
    assert given_back(again) == [("n", [7]), ("n", [8])]
    list(again.forgotten("x"))
    assert topic.records == {}


def test_a_commit_of_what_was_never_prepared_is_named() -> None:
    topic: Any = Topic()
    prepared = PreparedTransactions(topic, 100)
    assert list(prepared.forgotten("x")) == []
    with pytest.raises(PreparedUnknown, match=r"x is committed at b\.1:900"):
        prepared.rows(COMMIT)
    keep(prepared, [])
    assert given_back(prepared) == []
