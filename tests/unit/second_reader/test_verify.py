"""What is put cannot be matched, and what counts as a difference."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest

from relay.errors import SourceUnreachable
from relay.model.change import Operation, RowChange, RowsEvent
from relay.model.positions.position import BinlogPosition
from relay.model.table import Column, ColumnType, TableId, TableMap
from relay.model.value import Row, Value
from relay.second_reader.library import LibraryEvent
from relay.second_reader.pairs import side_by_side
from relay.second_reader.relay_events import OwnEvent
from relay.second_reader.values import DIFFERENT, EQUAL, compared
from relay.second_reader.verify import Report, verify

TABLE = TableMap(TableId("d", "t"), (Column("id", ColumnType.LONG, nullable=False),))


def place(offset: int) -> BinlogPosition:
    return BinlogPosition("b.000001", offset)


def own(offset: int, *rows: Row) -> OwnEvent:
    changes = [RowChange(None, row) for row in rows]
    return OwnEvent(
        place(offset), RowsEvent(Operation.INSERT, TABLE, changes, 0, place(offset), 10)
    )


def library(
    offset: int | None, *rows: tuple[object, ...], operation: Operation = Operation.INSERT
) -> LibraryEvent:
    position = None if offset is None else place(offset)
    return LibraryEvent(position, TABLE.id, operation, tuple((None, row) for row in rows))


def report(mine: list[OwnEvent], theirs: list[LibraryEvent]) -> Report:
    return verify(side_by_side(iter(mine), iter(theirs)))


@pytest.mark.parametrize(
    ("mine", "theirs", "said"),
    [
        ([own(4, (1,))], [library(4, (2,))], "column id: the relay reads 1, the library 2"),
        (
            [own(4, (1,)), own(8, (2,))],
            [library(8, (2,))],
            "b.000001:4: only the relay reads 1 rows of d.t",
        ),
        (
            [own(8, (2,))],
            [library(4, (1,)), library(8, (2,))],
            "b.000001:4: only the library reads 1 rows of d.t",
        ),
        ([own(4, (1,), (2,))], [library(4, (1,))], "b.000001:4: the relay reads 2 rows"),
        ([own(4, (1, 2))], [library(4, (1,))], "the relay reads 2 values, the library 1"),
        ([own(4, (1,))], [], "only the relay"),
    ],
)
def test_what_differs_is_told(mine: list[OwnEvent], theirs: list[LibraryEvent], said: str) -> None:
    found = report(mine, theirs)
    assert found.different == 1
    assert said in found.differences[0]
    assert any("1 differences" in line for line in found.lines())


def test_only_so_many_differences_are_listed() -> None:
    found = report([own(offset, (offset,)) for offset in range(4, 104)], [])
    assert (found.different, len(found.differences), list(found.lines())[-1]) == (
        100,
        20,
        "… and 80 more differences",
    )


def test_events_without_places_are_paired_one_by_one() -> None:
    assert (
        report([own(4, (1,)), own(8, (2,))], [library(None, (1,)), library(None, (2,))]).different
        == 0
    )
    with pytest.raises(SourceUnreachable, match="cannot be matched"):
        report([own(4, (1,))], [library(None, (1,), operation=Operation.DELETE)])


def test_a_compressed_transaction_stands_for_all_rows_in_it() -> None:
    found = report(
        [own(4, (1,)), own(4, (2,)), own(8, (3,))],
        [LibraryEvent(place(4), passed_over=40), library(8, (3,))],
    )
    assert (found.different, list(found.left_out.values())) == (0, [2])


@pytest.mark.parametrize(
    ("type_", "mine", "theirs", "verdict"),
    [
        (ColumnType.LONG, None, None, EQUAL),
        (ColumnType.LONG, None, 0, DIFFERENT),
        (ColumnType.NEWDECIMAL, "1.50", Decimal("1.50"), EQUAL),
        (ColumnType.DATE, "2024-01-02", date(2024, 1, 2), EQUAL),
        (ColumnType.DATE, "0000-00-00", None, "zero dates"),
        (ColumnType.DATE, "2024-01-02", None, DIFFERENT),
        (
            ColumnType.DATETIME2,
            "2024-01-02 03:04:05.10",
            datetime(2024, 1, 2, 3, 4, 5, 100_000),  # noqa: DTZ001 - as the library
            EQUAL,
        ),
        (
            ColumnType.DATETIME2,
            "2024-01-02 03:04:05.11",
            datetime(2024, 1, 2, 3, 4, 5, 100_000),  # noqa: DTZ001 - as the library
            DIFFERENT,
        ),
        (ColumnType.TIME2, "-01:00:00", timedelta(hours=-1), EQUAL),
        (ColumnType.TIME2, "-01:00:00.25", timedelta(hours=-1), "negative TIME"),
        (ColumnType.BIT, 5, "0101", EQUAL),
        (ColumnType.YEAR, 0, 1900, "zero dates"),
        (ColumnType.SET, 0, None, "empty SET"),
        (ColumnType.BLOB, b"", "", EQUAL),
        (ColumnType.BLOB, b"a", b"b", DIFFERENT),
        (ColumnType.VECTOR, b"a", None, "types that the library does not know"),
    ],
)
def test_values_are_compared_in_their_own_types(
    type_: ColumnType, mine: Value, theirs: object, verdict: str
) -> None:
    assert compared(Column("c", type_, nullable=True), mine, theirs).startswith(verdict)


def test_labels_and_texts() -> None:
    labelled = Column("c", ColumnType.SET, nullable=True, labels=("a", "b", "é"))
    assert compared(labelled, 3, {"a", "b"}) == EQUAL
    assert compared(labelled, 4, {"Ã©"}).startswith("labels")
    text = Column("c", ColumnType.VARCHAR, nullable=True, charset="utf8mb4")
    assert (compared(text, "é".encode(), "é"), compared(text, b"e", "é")) == (EQUAL, DIFFERENT)
    assert compared(
        Column("c", ColumnType.VARCHAR, nullable=True, charset="utf16"), b"\0a", "a"
    ).startswith("text in other")
