"""MariaDB's IF EXISTS and IF NOT EXISTS in ALTER TABLE: what is left out of a known table, and what
is certain of one that is not known.
"""

from collections.abc import Sequence

import pytest

from relay.model.change import Statement
from relay.model.positions.position import BinlogPosition
from relay.model.table import TableId
from relay.schema.ddl import classify
from relay.schema.history import DescribedTable, FollowedTables

TABLE = TableId("d", "t")
WITHOUT_KEY = "CREATE TABLE t (a INT NOT NULL, b INT)"
WITH_KEY = "CREATE TABLE t (a INT PRIMARY KEY, b INT)"


def apply(schemas: FollowedTables, sql: str, *, failed: bool = False) -> list[TableId]:
    statement = Statement(sql, "d", 0, BinlogPosition("b.1", 4), failed=failed)
    return schemas.apply(statement, classify(statement))


def after(*sqls: str) -> DescribedTable:
    schemas = FollowedTables(mariadb=True, server_charset="latin1")
    for sql in sqls:
        apply(schemas, sql)
    known = schemas.of(TABLE)
    assert isinstance(known, DescribedTable), known
    return known


@pytest.mark.parametrize(
    ("created", "sql", "key"),
    [
        (WITHOUT_KEY, "ALTER TABLE t ADD COLUMN IF NOT EXISTS b INT PRIMARY KEY", ["b"]),
        (WITHOUT_KEY, "ALTER TABLE t ADD COLUMN IF NOT EXISTS (b INT KEY, c INT)", ["b"]),
        (WITHOUT_KEY, "ALTER TABLE t ADD PRIMARY KEY IF NOT EXISTS (b)", ["b"]),
        (WITH_KEY, "ALTER TABLE t ADD COLUMN IF NOT EXISTS b INT PRIMARY KEY", ["a"]),
        (WITH_KEY, "ALTER TABLE t ADD PRIMARY KEY IF NOT EXISTS (b)", ["a"]),
        (WITH_KEY, "ALTER TABLE t ADD CONSTRAINT k PRIMARY KEY IF NOT EXISTS (b)", ["a"]),
        (WITH_KEY, "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY IF NOT EXISTS (b)", []),
        (WITH_KEY, "ALTER TABLE t ADD IF NOT EXISTS c CHAR(20) KEY, DROP PRIMARY KEY", []),
        (WITH_KEY, "ALTER TABLE t DROP PRIMARY KEY, MODIFY COLUMN IF EXISTS b INT PRIMARY KEY", []),
        (WITH_KEY, "ALTER TABLE t DROP PRIMARY KEY, MODIFY COLUMN b INT PRIMARY KEY", ["b"]),
    ],
)
def test_an_optional_primary_key_gives_way_to_an_earlier_one(
    created: str, sql: str, key: list[str]
) -> None:
    table = after(created, sql)
    assert list(table.primary_key) == key
    assert all(column.nullable is False for column in table.columns if column.name in key)


@pytest.mark.parametrize(
    ("sqls", "keys"),
    [
        (["ALTER TABLE t ADD COLUMN IF NOT EXISTS b INT UNIQUE"], ["b"]),
        (["ALTER TABLE t ADD COLUMN IF NOT EXISTS b INT UNIQUE"] * 2, ["b"]),
        (["ALTER TABLE t ADD UNIQUE KEY IF NOT EXISTS (a)"] * 2, ["a"]),
        (
            ["ALTER TABLE t ADD UNIQUE KEY IF NOT EXISTS (b), ADD UNIQUE KEY IF NOT EXISTS (b)"],
            ["b"],
        ),
        (
            [
                "ALTER TABLE t ADD UNIQUE KEY IF NOT EXISTS k (a)",
                "ALTER TABLE t ADD CONSTRAINT k UNIQUE IF NOT EXISTS (b)",
            ],
            ["k"],
        ),
        (
            [
                "CREATE UNIQUE INDEX k ON t (a)",
                "ALTER TABLE t DROP KEY k, ADD UNIQUE KEY IF NOT EXISTS k (b)",
            ],
            [],
        ),
    ],
)
def test_an_optional_key_gives_way_to_one_of_its_name_or_of_its_first_column(
    sqls: Sequence[str], keys: list[str]
) -> None:
    assert [index.name for index in after(WITHOUT_KEY, *sqls).indexes or ()] == keys


@pytest.mark.parametrize("key", ["PRIMARY KEY", "UNIQUE"])
def test_the_key_of_a_change_that_is_left_out_depends_on_the_release(key: str) -> None:
    schemas = FollowedTables(mariadb=True)
    for sql in (WITHOUT_KEY, f"ALTER TABLE t CHANGE COLUMN IF EXISTS zz b INT {key}"):
        apply(schemas, sql)
    assert isinstance(schemas.of(TABLE), str)


def test_a_column_that_is_added_twice_is_there_once() -> None:
    table = after(
        WITHOUT_KEY, "ALTER TABLE t ADD COLUMN IF NOT EXISTS y INT, ADD COLUMN IF NOT EXISTS y DATE"
    )
    assert [(column.name, column.kind) for column in table.columns] == [
        ("a", "int"),
        ("b", "int"),
        ("y", "int"),
    ]


def test_a_column_that_an_item_before_would_have_changed_is_not_added() -> None:
    table = after(
        WITHOUT_KEY, "ALTER TABLE t CHANGE IF EXISTS z y INT, ADD COLUMN IF NOT EXISTS y INT"
    )
    assert [column.name for column in table.columns] == ["a", "b"]


def test_an_optional_index_of_the_primary_keys_name_gives_way_to_it() -> None:
    assert after(WITH_KEY, "CREATE UNIQUE INDEX IF NOT EXISTS `PRIMARY` ON t (b)").indexes == ()


@pytest.mark.parametrize(
    "item",
    [
        "DROP COLUMN IF EXISTS a",
        "RENAME COLUMN IF EXISTS a TO b",
        "MODIFY COLUMN IF EXISTS a INT UNSIGNED",
        "CHANGE COLUMN IF EXISTS a b INT",
        "ADD PRIMARY KEY IF NOT EXISTS (a)",
        "ALTER COLUMN a SET INVISIBLE",
        "DROP SYSTEM VERSIONING",
        "ADD PERIOD FOR p (a, b)",
        "CONVERT TO CHARACTER SET DEFAULT",
        "CHARACTER SET DEFAULT",
        "COLLATE DEFAULT",
    ],
)
def test_of_a_table_that_is_not_known_no_item_counts_as_one_that_changes_nothing(item: str) -> None:
    schemas = FollowedTables(mariadb=True)
    assert apply(schemas, f"ALTER TABLE t {item}") == [TABLE]
    assert isinstance(schemas.of(TABLE), str)


@pytest.mark.parametrize(
    "item",
    [
        "DROP INDEX IF EXISTS k",
        "RENAME INDEX IF EXISTS k TO l",
        "DROP CONSTRAINT k",
        "ADD UNIQUE (a)",
    ],
)
def test_of_a_table_that_is_not_known_a_change_of_keys_names_it_and_leaves_it(item: str) -> None:
    schemas = FollowedTables(mariadb=True)
    assert apply(schemas, f"ALTER TABLE t {item}") == [TABLE]
    assert schemas.of(TABLE) is None


def test_a_failed_statement_enters_no_table_that_was_not_there() -> None:
    schemas = FollowedTables(mariadb=True)
    assert apply(schemas, "DROP TABLE t, missing", failed=True) == [TABLE, TableId("d", "missing")]
    assert len(schemas) == 0


def test_a_table_is_gone_where_the_server_logs_if_exists_twice() -> None:
    schemas = FollowedTables(mariadb=True, server_charset="latin1")
    apply(schemas, WITH_KEY)
    assert apply(
        schemas, "DROP TABLE IF EXISTS /*!50100 IF EXISTS */ `t` /* generated by server */"
    ) == [TABLE]
    assert schemas.of(TABLE) is None
