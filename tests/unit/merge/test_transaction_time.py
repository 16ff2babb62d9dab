"""When a transaction happened: by its begin, or by the first time that a column of its rows
holds.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from relay.errors import CorruptEvent
from relay.merge import by_column, by_execute_time
from relay.model.change import (
    Operation,
    RowChange,
    RowsEvent,
    StreamItem,
    TransactionBegin,
    TransactionEnd,
)
from relay.model.positions.position import BinlogPosition, SourceIdentity
from relay.model.table import Column, ColumnType, TableId, TableMap
from relay.model.value import ABSENT, Row, Value

PLACE = BinlogPosition("b.000001", 4)
BEGIN = TransactionBegin(PLACE, "", None, 50)
END = TransactionEnd(PLACE, "", SourceIdentity("", 1, 0))


def rows(*images: tuple[Row | None, Row | None], names: str = "id at") -> RowsEvent:
    columns = tuple(Column(name, ColumnType.LONG, nullable=True) for name in names.split())
    return RowsEvent(
        Operation.UPDATE,
        TableMap(TableId("d", "t"), columns),
        [RowChange(*each) for each in images],
        50,
        PLACE,
        1,
    )


def inserted(value: Value) -> RowsEvent:
    return rows((None, (1, value)))


def test_the_servers_commit_time_counts_before_its_second() -> None:
    assert by_execute_time([BEGIN]) == 50_000
    assert by_execute_time([BEGIN._replace(commit_time_ms=49_123)]) == 49_123
    assert by_execute_time([]) is None


@pytest.mark.parametrize(
    ("value", "time_ms"),
    [
        (1_700_000_000, 1_700_000_000_000),
        (1_700_000_000_123, 1_700_000_000_123),
        ("2023-11-14 22:13:20", 1_700_000_000_000),
        ("2023-11-14 22:13:20.125999", 1_700_000_000_125),
        ("2023-11-14", 1_699_920_000_000),
    ],
)
def test_times_and_numbers(value: Value, time_ms: int) -> None:
    assert by_column("AT")([BEGIN, inserted(value)]) == time_ms


@pytest.mark.parametrize(
    "value", [None, ABSENT, b"2023-11-14 22:13:20", 1.5, "0000-00-00 00:00:00", "22:13:20", "12.50"]
)
def test_what_is_no_time_leaves_it_to_the_rows_behind_and_then_to_the_begin(value: Value) -> None:
    time_of = by_column("at")
    assert time_of([BEGIN, inserted(value)]) is None
    assert time_of([BEGIN, inserted(value), END]) == 50_000
    assert time_of([BEGIN, inserted(value), inserted(7), END]) == 7_000


def test_the_image_after_counts_before_the_one_before() -> None:
    time_of = by_column("at")
    assert time_of([BEGIN, rows(((1, 5), (1, 6)))]) == 6_000
    assert time_of([BEGIN, rows(((1, 5), (ABSENT, ABSENT)))]) == 5_000
    assert time_of([BEGIN, rows(((1, 5), None))]) == 5_000


def test_tables_without_the_column_do_not_count() -> None:
    assert by_column("at")([BEGIN, rows((None, (1, 9)), names="id n"), inserted(7)]) == 7_000


def test_rows_that_cannot_be_read_are_for_others_to_tell() -> None:
    class Damaged:
        def __iter__(self) -> Iterator[RowChange]:
            raise CorruptEvent("bytes")

    damaged: Any = Damaged()
    items: list[StreamItem] = [BEGIN, inserted(1)._replace(rows=damaged), END]
    assert by_column("at")(items) == 50_000
