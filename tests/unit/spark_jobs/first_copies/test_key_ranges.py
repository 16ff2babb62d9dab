"""Key ranges: as SQL, and as a cut that neither overlaps nor leaves a gap (SQLite judges it)."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.model.table import TableId
from spark_jobs.origin import (
    KeyRange,
    Shard,
    SourceColumn,
    key_equals,
    literal,
    next_boundary,
    ranges_of,
)

ID = SourceColumn("id", "int", "int(11)")
NAME = SourceColumn("na`me", "varchar", "varchar(20)")
AT = SourceColumn("at", "datetime", "datetime(3)")
RAW = SourceColumn("raw", "binary", "binary(4)")
GREEK = SourceColumn("g", "varchar", "varchar(9)", "greek_general_ci")
LABEL = SourceColumn("label", "enum", "enum('b','a')")


def shard(*key: SourceColumn) -> Shard:
    return Shard("shop", TableId("db", "t"), "shop.t", key, tuple(column.name for column in key))


def test_a_range_compares_column_after_column() -> None:
    part = KeyRange(("1", "6162"), ("5", "7A"))
    assert part.where([ID, NAME]) == (
        "(`id` >= 1 AND (`id` > 1 OR (`na``me` > _utf8mb4 X'6162'))) AND (`id` <= 5 AND (`id` < "
        "5 OR (`na``me` <= _utf8mb4 X'7A')))"
    )
    assert KeyRange().where([ID]) == "TRUE"


def test_the_next_boundary_is_a_look_along_the_key() -> None:
    assert next_boundary(shard(ID), ("7",), 100) == (
        "SELECT CAST(`id` AS CHAR) AS k0 FROM `db`.`t` WHERE `id` > 7 ORDER BY `id` LIMIT 1 "
        "OFFSET 99"
    )
    single = next_boundary(shard(SourceColumn("f", "float", "float")), None, 1)
    assert single.startswith(
        "SELECT CAST(`f` + 0E0 AS CHAR) AS k0 "
    )  # 0.1 as a FLOAT lies behind 0.1: the boundary would be found again
    greek = next_boundary(shard(GREEK), ("greek:D2",), 1)
    assert greek.startswith("SELECT CONCAT('greek:', HEX(`g`)) AS k0 ")
    assert " WHERE `g` > _greek X'D2' " in greek
    labels = next_boundary(shard(LABEL), None, 1)
    assert labels.endswith(
        "WHERE TRUE ORDER BY CONVERT(`label` USING utf8mb4) COLLATE utf8mb4_bin LIMIT 1 OFFSET 0"
    )


@pytest.mark.parametrize(
    ("column", "text", "sql"),
    [
        (ID, "-17", "-17"),
        (NAME, "", "_utf8mb4 X''"),
        (GREEK, "greek:D2", "_greek X'D2'"),
        (GREEK, "CE91", "_utf8mb4 X'CE91'"),  # of a former release
        (AT, "2024-01-01 00:00:00.500", "'2024-01-01 00:00:00.500'"),
        (RAW, "00FF", "X'00FF'"),
        (SourceColumn("d", "double", "double"), "1.5e-7", "1.5e-7"),
    ],
)
def test_a_literal_is_made_of_harmless_characters(
    column: SourceColumn, text: str, sql: str
) -> None:
    assert literal(column, text) == sql


@pytest.mark.parametrize(
    ("column", "text"),
    [(ID, "1 OR 1=1"), (NAME, "'"), (GREEK, "greek:'"), (AT, "x' OR '"), (RAW, "0")],
)
def test_a_text_that_no_boundary_is_refused(column: SourceColumn, text: str) -> None:
    with pytest.raises(ValueError, match="is not a value of key column"):
        literal(column, text)


def test_a_number_that_reads_back_otherwise_is_found_by_its_text() -> None:
    assert key_equals([SourceColumn("f", "float", "float")], ["1.1"]) == "CAST(`f` AS CHAR) = '1.1'"


keys = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), unique=True, max_size=40)


@given(keys, keys)
def test_every_row_lies_in_one_range(
    rows: list[tuple[int, int]], cuts: list[tuple[int, int]]
) -> None:
    table = sqlite3.connect(":memory:")
    table.execute("CREATE TABLE t (id INT, n INT)")
    table.executemany("INSERT INTO t VALUES (?, ?)", rows)
    key = [ID, SourceColumn("n", "int", "int")]
    boundaries = [(str(first), str(second)) for first, second in sorted(cuts)]
    found = [
        row
        for part in ranges_of(boundaries)
        for row in table.execute(
            f"SELECT id, n FROM t WHERE {part.where(key)} ORDER BY id, n"
        ).fetchall()
    ]
    table.close()
    assert found == sorted(rows)
