"""Declared types only ever add what the map cannot know."""

import pytest

from relay.model.table import Column, ColumnType, TableId, TableMap
from relay.schema.refined_types import may_be_refined, refined_texts


@pytest.mark.parametrize(
    ("column", "declared", "text"),
    [
        (Column("f", ColumnType.FLOAT, True), "FLOAT(7,3)", "float(7,3)"),
        (Column("f", ColumnType.FLOAT, True), "double(7,3)", "map"),
        (Column("f", ColumnType.FLOAT, True), "float", "map"),
        (Column("d", ColumnType.DOUBLE, True), "double precision(20,5)", "double precision(20,5)"),
        (Column("d", ColumnType.DOUBLE, True), "REAL(20,5)", "real(20,5)"),
        (Column("d", ColumnType.DOUBLE, True), "float(20,5)", "map"),
        (
            Column("i", ColumnType.LONG, True, unsigned=True),
            "int(5) unsigned zerofill",
            "int(5) unsigned zerofill",
        ),
        (Column("i", ColumnType.LONG, True, unsigned=True), "int(5) unsigned", "map"),
        (Column("i", ColumnType.LONG, True), "int(5) unsigned zerofill", "map"),
        (Column("i", ColumnType.LONG, True, unsigned=True), "varchar(10)", "map"),
        (
            Column("n", ColumnType.NEWDECIMAL, True, 8, 2, True),
            "decimal(8,2) unsigned zerofill",
            "decimal(8,2) unsigned zerofill",
        ),
        (Column("v", ColumnType.VARCHAR, True, 40), "float(7,3)", "map"),
    ],
)
def test_only_the_same_kind_of_column_is_refined(column: Column, declared: str, text: str) -> None:
    assert refined_texts(TableMap(TableId("d", "t"), (column,)), ("map",), (declared,)) == (text,)


def test_most_tables_need_no_question() -> None:
    plain = (
        Column("id", ColumnType.LONG, False),
        Column("v", ColumnType.VARCHAR, True, 40, charset="utf8mb4"),
    )
    assert not may_be_refined(TableMap(TableId("d", "t"), plain, (0,)))
    assert may_be_refined(
        TableMap(TableId("d", "t"), (*plain, Column("f", ColumnType.FLOAT, True)), (0,))
    )
