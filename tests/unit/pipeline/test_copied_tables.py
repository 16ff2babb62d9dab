"""Which tables are left of a request, and behind which key the next chunk begins."""

from typing import Any

import pytest

from relay.errors import SnapshotRefused
from relay.model.records.snapshot_progress import MOST_TABLES, SnapshotProgress
from relay.model.table import TableId
from relay.pipeline.copying.key_types import column_facts, reads_on, with_key_types
from relay.pipeline.copying.known_tables import KnownTable, check_number, left_of
from relay.schema import CopiedTable, DescribedTable, copied_table
from relay.schema.history.described import DescribedColumn


def tables(*names: str) -> list[KnownTable]:
    return [KnownTable(TableId("shop", name), False, "InnoDB", 0) for name in names]


def names(found: list[KnownTable]) -> list[str]:
    return [each.id.table for each in found]


def test_a_table_that_gets_a_smaller_name_is_still_copied() -> None:
    progress = SnapshotProgress().finishing("shop.b")
    assert names(left_of(tables("b", "z"), progress)) == ["z"]
    assert names(left_of(tables("a", "b"), progress)) == ["a"]


def test_the_table_that_was_begun_comes_first_while_it_has_its_name() -> None:
    progress = SnapshotProgress("shop.m", after=("7",)).finishing("shop.b")
    begun = SnapshotProgress("shop.m", after=("7",), finished=progress.finished)
    assert names(left_of(tables("a", "b", "m", "z"), begun)) == ["m", "a", "z"]
    assert names(left_of(tables("a", "b", "n"), begun)) == ["a", "n"]


def test_more_tables_than_the_record_can_name_are_refused() -> None:
    progress = SnapshotProgress().finishing("shop.gone")
    check_number(tables(*map(str, range(MOST_TABLES - 1))), progress)
    with pytest.raises(SnapshotRefused, match="5001 tables"):
        check_number(tables(*map(str, range(MOST_TABLES))), progress)


class Connection:
    """Answers what the catalogue says of columns."""

    def __init__(self, *rows: tuple[str, str, str | None]) -> None:
        self._rows = rows

    def rows(self, _sql: str, *arguments: str) -> list[tuple[str, str, str | None]]:
        assert arguments == ("shop", "orders")
        return list(self._rows)


def read_by(kind: str, type_text: str, collation: str | None) -> CopiedTable:
    column = DescribedColumn("id", kind, (9,), nullable=False, charset="utf8mb4")
    described = DescribedTable((column,), ("id",), "utf8mb4", ())
    table = copied_table(TableId("shop", "orders"), described, mariadb=False)
    connection: Any = Connection(("ID", type_text, collation), ("other", "int", None))
    found = with_key_types(table, column_facts(table.map.id, connection))
    assert found is not None
    return found


def test_a_table_whose_key_has_another_type_or_collation_begins_again() -> None:
    table = read_by("varchar", "varchar(9)", "utf8mb4_bin")
    assert table.key_types == ("varchar(9) utf8mb4_bin",)
    begun = SnapshotProgress("shop.orders", ("id",), table.key_types, ("31",))
    assert reads_on(begun, table)
    assert not reads_on(begun, read_by("bigint", "bigint", None))
    assert not reads_on(begun, read_by("varchar", "varchar(9)", "utf8mb4_0900_ai_ci"))
    assert reads_on(SnapshotProgress("shop.orders"), table)


def test_a_key_without_one_of_its_columns_is_not_read() -> None:
    column = DescribedColumn("id", "int", nullable=False)
    table = copied_table(
        TableId("shop", "orders"), DescribedTable((column,), ("id",), "utf8mb4", ()), mariadb=False
    )
    connection: Any = Connection(("uid", "int", None))
    assert with_key_types(table, column_facts(table.map.id, connection)) is None
