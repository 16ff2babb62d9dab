"""Indexes as statements make them, and the key that is chosen from them."""

import pytest

from relay.model.change import Statement
from relay.model.positions.position import BinlogPosition
from relay.model.table import Column, ColumnType, KeyKind, Logged, TableId, TableMap
from relay.schema.ddl import classify
from relay.schema.history import DescribedTable, FollowedTables, completed

TABLE = TableId("d", "t")


def after(*sqls: str, mariadb: bool = False) -> DescribedTable:
    schemas = FollowedTables(mariadb=mariadb, server_charset="latin1")
    for sql in sqls:
        statement = Statement(sql, "d", 0, BinlogPosition("b.1", 4))
        schemas.apply(statement, classify(statement))
    known = schemas.of(TABLE)
    assert isinstance(known, DescribedTable)
    return known


def unique(table: DescribedTable) -> list[str]:
    return [index.name for index in table.indexes or () if index.unique]


def key_of(table: DescribedTable) -> tuple[tuple[int, ...], KeyKind]:
    columns = tuple(
        Column("", ColumnType.LONG, nullable=column.nullable is not False)
        for column in table.columns
    )
    made = completed(TableMap(TABLE, columns, logged=Logged.NOTHING, unknown="none"), table)
    assert isinstance(made, TableMap), made
    return made.primary_key, made.key_kind


CREATED = (
    "CREATE TABLE t (a INT, b INT NOT NULL, c INT NOT NULL UNIQUE, UNIQUE (a), KEY (b), UNIQUE "
    "(b), CONSTRAINT k UNIQUE INDEX (b, c))"
)


def test_unnamed_keys_get_the_names_and_the_order_that_servers_give_them() -> None:
    table = after(CREATED)
    assert unique(table) == ["c", "b_2", "k", "a"]
    assert key_of(table) == ((2,), KeyKind.NOT_PRIMARY)
    assert DescribedTable.from_fields(table.to_fields()) == table


@pytest.mark.parametrize(
    ("sql", "key"),
    [
        ("DROP INDEX c ON t", (1,)),
        ("ALTER TABLE t DROP KEY c, RENAME INDEX b_2 TO z", (1,)),
        ("ALTER TABLE t DROP CONSTRAINT c", (1,)),
        ("ALTER TABLE t DROP INDEX c, DROP INDEX b_2", (1, 2)),
        ("ALTER TABLE t DROP COLUMN c", (1,)),
        ("ALTER TABLE t MODIFY c INT NULL", (1,)),
        ("ALTER TABLE t CHANGE c z INT NOT NULL FIRST", (0,)),
        ("CREATE UNIQUE INDEX first ON t (b)", (2,)),
    ],
)
def test_statements_that_change_keys_are_followed(sql: str, key: tuple[int, ...]) -> None:
    assert key_of(after(CREATED, sql)) == (key, KeyKind.NOT_PRIMARY)


def test_a_primary_key_comes_first_and_leaves_the_unique_keys() -> None:
    assert key_of(after(CREATED, "ALTER TABLE t ADD PRIMARY KEY (b)")) == ((1,), KeyKind.PRIMARY)
    assert key_of(
        after(CREATED, "ALTER TABLE t ADD PRIMARY KEY (b)", "DROP INDEX `PRIMARY` ON t")
    ) == ((2,), KeyKind.NOT_PRIMARY)


def test_a_key_over_a_prefix_an_expression_or_null_names_no_row() -> None:
    created = (
        "CREATE TABLE t (a INT NOT NULL, b INT, v VARCHAR(9) NOT NULL, UNIQUE (v(3)), UNIQUE ((a + "
        "1)), UNIQUE (a, b))"
    )
    names = {index.name: index for index in after(created).indexes or ()}
    assert names["v"].prefixes == (3,)
    assert names["functional_index"].prefixes == (-1,)


def test_a_dropped_index_that_is_not_known_leaves_the_keys_unknown() -> None:
    table = after(CREATED, "DROP INDEX other ON t")
    assert table.indexes is None
    assert key_of(table) == ((), KeyKind.UNKNOWN)
    assert DescribedTable.from_fields(table.to_fields()) == table


def test_a_record_that_was_written_before_has_columns_and_no_keys() -> None:
    plain = after(CREATED).to_fields()
    del plain["indexes"]
    assert DescribedTable.from_fields(plain).indexes is None


def test_where_mariadb_may_have_kept_another_order_the_keys_are_not_known() -> None:
    assert after(CREATED, "ALTER TABLE t MODIFY c INT NULL", mariadb=True).indexes is None
    assert unique(after(CREATED, "ALTER TABLE t MODIFY c INT NULL")) == ["b_2", "c", "k", "a"]


@pytest.mark.parametrize("mariadb", [True, False])
def test_older_keys_are_looked_at_before_the_columns_of_a_primary_key_are_made_not_null(
    mariadb: bool,
) -> None:
    sqls = (
        "CREATE TABLE t (a INT, b INT NOT NULL, UNIQUE (b), UNIQUE (a))",
        "ALTER TABLE t ADD PRIMARY KEY (a), ADD UNIQUE n (b)",
    )
    assert unique(after(*sqls, mariadb=mariadb)) == ["b", "n", "a"]
    made = (
        "CREATE TABLE t (v INT UNIQUE, w INT NOT NULL UNIQUE, x INT UNIQUE, PRIMARY KEY (v), "
        "UNIQUE z (v))"
    )
    assert unique(after(made, mariadb=mariadb)) == ["w", "z", "v", "x"]
