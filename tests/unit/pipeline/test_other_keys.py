"""Requests that name rows in another spelling of their keys than the source stores."""

from dataclasses import replace

import pytest

from relay.encode import KeyEncoder
from relay.model.change import RowChange
from relay.model.records.snapshot_progress import SnapshotProgress
from relay.model.table import Column, ColumnType, TableDefinition, TableId, TableMap
from relay.pipeline.copying.named_keys import other_keys
from relay.pipeline.copying.ready_chunk import ReadyChunk
from relay.pipeline.copying.window import Window
from relay.pipeline.messages.table_plan import TablePlan
from relay.schema import CopiedTable, DescribedTable, copied_table
from relay.schema.history.described import DescribedColumn
from relay.source import ReadChunk
from tests.support.rows.table_plans import table_plan
from tests.unit.pipeline.test_copied_chunks import PLACE, TABLE

LOGICAL = TableId("shop", "order")


def table(charset: str = "utf8mb4") -> CopiedTable:
    columns = (
        DescribedColumn("name", "varchar", (10,), nullable=False, charset=charset),
        DescribedColumn("day", "date", nullable=False),
        DescribedColumn("n", "int", nullable=False),
    )
    described = DescribedTable(columns, ("name", "day", "n"), charset, ())
    return copied_table(TABLE, described, mariadb=False)


def plan(copied: CopiedTable, shard: TableId | None = None) -> TablePlan:
    map_ = TableMap(
        TABLE,
        (
            Column("name", ColumnType.VARCHAR, nullable=False, charset="utf8mb4"),
            Column("day", ColumnType.DATE, nullable=False),
            Column("n", ColumnType.LONG, nullable=False),
        ),
    )
    definition = TableDefinition(map_, copied.ordinals, ("varchar(10)", "date", "int"))
    keys = KeyEncoder(definition, LOGICAL, shard)
    return replace(table_plan(definition, LOGICAL, "order", 4), keys=keys)


ROW = RowChange(None, (b"abc", "2024-01-02", 7))
STORED = '["shop.order","abc","2024-01-02","7"]'


@pytest.mark.parametrize(
    ("key", "other"),
    [
        (("abc", "2024-01-02", "7"), ""),
        (("ABC", "2024-01-02", "7"), STORED),
        (("abc  ", "2024-01-02", "7"), STORED),
        (("abc", "2024-1-2", "7"), STORED),
        (("abc", "2024-01-02", "007"), STORED),
        ((str(TABLE), "abc", "2024-01-02", "7"), STORED),
    ],
)
def test_a_row_found_by_another_spelling_of_its_key_is_named(
    key: tuple[str, ...], other: str
) -> None:
    assert other_keys(table(), plan(table()), [key], [ROW]) == [other]


def test_a_key_may_name_its_shard_or_leave_it_out() -> None:
    of_shard = plan(table(), TABLE)
    exact = ("abc", "2024-01-02", "7")
    for key in (exact, (str(TABLE), *exact)):
        assert other_keys(table(), of_shard, [key], [ROW]) == [""]
    (found,) = other_keys(table(), of_shard, [("shop.u", *exact)], [ROW])
    assert found == '["shop.order","shop.orders","abc","2024-01-02","7"]'


def test_the_progress_of_a_chunk_has_these_keys_whether_or_not_it_is_the_last() -> None:
    copied = table()
    seen = Window(TABLE, copied.ordinals, copied.map.columns)
    for limit in (1, 9):
        chunk = ReadChunk([(b"abc", b"2024-01-02", b"7", b"616263", b"2024-01-02", b"7")], PLACE)
        ready = ReadyChunk(copied, chunk, seen, limit, (STORED,))
        after = ready.progress_after(SnapshotProgress(other_keys=("a",)), 1)
        assert after.other_keys == ("a", STORED)
