"""Statements in every form that servers log them, followed one after the other."""

import pytest

from relay.model.change import Statement
from relay.model.position import BinlogPosition
from relay.model.table import TableId
from relay.schema import Schemas, classify
from relay.schema.history import DescribedTable

CREATED = "CREATE TABLE t (a INT, b VARCHAR(5), c DATE NOT NULL, PRIMARY KEY (a))"


def after(*sqls: str, mariadb: bool = True) -> Schemas:
    schemas = Schemas(mariadb=mariadb)
    schemas.put_database("d", "utf8mb4")
    for sql in sqls:
        statement = Statement(sql, "d", 0, BinlogPosition("b.1", 4))
        schemas.apply(statement, classify(statement))
    return schemas


def names(schemas: Schemas, table: str = "t") -> str:
    known = schemas.of(TableId("d", table))
    return " ".join(column.name for column in known.columns) if isinstance(known, DescribedTable) else f"? {known}"


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("ALTER TABLE t ADD x INT FIRST", "x a b c"),
        ("ALTER TABLE t ADD COLUMN x INT DEFAULT 3 COMMENT 'FIRST' AFTER a", "a x b c"),
        ("ALTER TABLE t ADD x INT AFTER a, ADD y INT AFTER x", "a x y b c"),
        ("ALTER TABLE t ADD x INT FIRST, ADD y INT FIRST", "y x a b c"),
        ("alter ignore table `d`.`t` drop column `b`", "a c"),
        ("ALTER TABLE t DROP a, DROP b, DROP INDEX i", "c"),
        ("ALTER TABLE t CHANGE b bb TEXT", "a bb c"),
        ("ALTER TABLE t CHANGE B b TEXT FIRST", "b a c"),
        ("ALTER TABLE t CHANGE a b INT, CHANGE b a INT", "b a c"),
        ("ALTER TABLE t MODIFY c DATE FIRST, MODIFY a INT AFTER b", "c b a"),
        ("ALTER TABLE t RENAME COLUMN a TO b, RENAME COLUMN b TO a", "b a c"),
        ("ALTER TABLE t RENAME TO t, ADD x INT", "a b c x"),
        ("ALTER TABLE t ADD (x INT, y ENUM('a)','b,')), ALGORITHM=INSTANT, LOCK=NONE", "a b c x y"),
        ("ALTER TABLE t ADD COLUMN IF NOT EXISTS b INT, ADD COLUMN IF NOT EXISTS x INT", "a b c x"),
        ("ALTER TABLE t DROP COLUMN IF EXISTS zz, DROP IF EXISTS b", "a c"),
        ("ALTER TABLE t MODIFY IF EXISTS zz INT, RENAME COLUMN IF EXISTS zz TO y", "a b c"),
        ("ALTER TABLE t ADD PARTITION (PARTITION p1 VALUES LESS THAN (10))", "a b c"),
        ("ALTER TABLE t DROP PARTITION p1, p2", "a b c"),
        ("ALTER TABLE t ADD x INT CHECK (x > 0), ADD CONSTRAINT k FOREIGN KEY (x) REFERENCES o (x) ON DELETE SET NULL", "a b c x"),
        ("ALTER TABLE t ADD PERIOD FOR p (a, b), DROP CONSTRAINT k, DROP FOREIGN KEY f, DROP CHECK k", "a b c"),
        ("ALTER TABLE t ADD SYSTEM VERSIONING", "a b c row_start row_end"),
        ("ALTER ONLINE TABLE t WAIT 10 ADD x INT", "a b c x"),
        ("SET STATEMENT max_statement_time=0 FOR ALTER TABLE t ADD x INT", "a b c x"),
        ("/* gh-ost */ ALTER /* x */ TABLE t /*!80000 ADD x INT */", "a b c x"),
        ("CREATE OR REPLACE TABLE t (z INT)", "z"),
        ("CREATE TABLE IF NOT EXISTS t (z INT)", "a b c"),
        ("TRUNCATE TABLE t", "a b c"),
        ("CREATE VIEW t2 AS SELECT * FROM t", "a b c"),
        ("some words that nobody knows", "a b c"),
        ("ALTER TABLE t CONVERT TO CHARACTER SET latin1, ADD x INT", "a b c x"),
    ],
)
def test_columns_are_where_the_server_has_them(sql: str, columns: str) -> None:
    assert names(after(CREATED, sql)) == columns


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE t DROP zz",
        "ALTER TABLE t CHANGE zz y INT",
        "ALTER TABLE t ADD x INT AFTER zz",
        "ALTER TABLE t ADD b INT",
        "ALTER TABLE t ADD x",
        "ALTER TABLE t RENAME COLUMN zz TO y",
        "CREATE OR REPLACE TABLE t SELECT 1",
        "CREATE OR REPLACE TABLE t (z INT) AS SELECT 1 AS y",
        "CREATE OR REPLACE TABLE t LIKE nowhere",
    ],
)
def test_what_cannot_be_followed_makes_its_table_unknown_and_no_other(sql: str) -> None:
    schemas = after(CREATED, "CREATE TABLE o (x INT)", sql)
    assert names(schemas).startswith("? ")
    assert names(schemas, "o") == "x"


def test_renames_of_migration_tools_move_the_columns() -> None:
    ghost = after(CREATED, "CREATE TABLE _t_gho LIKE t", "ALTER TABLE _t_gho ADD x INT", "RENAME TABLE t TO _t_del, _t_gho TO t")
    assert (names(ghost), names(ghost, "_t_del"), names(ghost, "_t_gho")) == ("a b c x", "a b c", "? None")
    toolkit = after(
        CREATED,
        "CREATE TABLE `d`.`_t_new` (`a` int, `y` int)",
        "RENAME TABLE `d`.`t` TO `d`.`_t_old`, `d`.`_t_new` TO `d`.`t`",
        "DROP TABLE _t_old",
    )
    assert (names(toolkit), names(toolkit, "_t_old")) == ("a y", "? None")
    swapped = after(CREATED, "CREATE TABLE u (z INT)", "RENAME TABLE t TO tmp, u TO t, tmp TO u")
    assert (names(swapped), names(swapped, "u")) == ("z", "a b c")


def test_columns_of_versions_stay_the_last() -> None:
    versioned = after(CREATED, "ALTER TABLE t ADD SYSTEM VERSIONING", "ALTER TABLE t ADD x INT, ADD y INT FIRST")
    assert names(versioned) == "y a b c x row_start row_end"
    assert names(after(CREATED, "ALTER TABLE t ADD SYSTEM VERSIONING, ADD x INT")) == "a b c x row_start row_end"
    assert names(after(CREATED, "ALTER TABLE t ADD SYSTEM VERSIONING", "ALTER TABLE t DROP SYSTEM VERSIONING, ADD x INT")) == "a b c x"
    own = after("CREATE TABLE t (row_start INT, row_end INT)", "ALTER TABLE t ADD x INT")
    assert names(own) == "row_start row_end x"


def test_keys_follow_their_columns() -> None:
    def key(*sqls: str) -> tuple[str, ...]:
        known = after(CREATED, *sqls).of(TableId("d", "t"))
        assert isinstance(known, DescribedTable)
        return known.primary_key

    assert key() == ("a",)
    assert key("ALTER TABLE t CHANGE a z INT") == ("z",)
    assert key("ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY USING BTREE (c, b(3))") == ("c", "b")
    assert key("ALTER TABLE t DROP PRIMARY KEY") == ()
    versioned = "ALTER TABLE t ADD SYSTEM VERSIONING"
    assert key(versioned) == ("a", "row_end")
    assert key(versioned, "ALTER TABLE t CHANGE a z INT") == ("z", "row_end")
    assert key(versioned, "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (c)") == ("c", "row_end")
    assert key(versioned, "ALTER TABLE t DROP SYSTEM VERSIONING") == ("a",)
    assert key(versioned, "ALTER TABLE t DROP PRIMARY KEY") == ()
    assert key("CREATE OR REPLACE TABLE t (a INT, row_end INT, PRIMARY KEY (row_end, a))") == ("row_end", "a")
    assert key("DROP INDEX `PRIMARY` ON t") == ()
    assert key("ALTER TABLE t DROP a") == ()
    assert key("ALTER TABLE t DROP a, ADD z SERIAL PRIMARY KEY FIRST") == ("z",)


def test_statements_that_change_no_column_change_nothing() -> None:
    schemas = after(CREATED)
    for sql in (
        "ALTER TABLE t ADD INDEX i (b)",
        "ALTER TABLE t ENGINE=InnoDB",
        "CREATE INDEX i ON t (b)",
        "ALTER TABLE other ADD KEY k (a)",
    ):
        statement = Statement(sql, "d", 0, BinlogPosition("b.1", 4))
        assert schemas.apply(statement, classify(statement)) == []


def test_databases_give_their_character_set_and_take_their_tables_along() -> None:
    schemas = after(
        "CREATE DATABASE e CHARACTER SET gbk",
        "CREATE TABLE e.x (a CHAR(3))",
        "ALTER DATABASE e COLLATE latin1_bin",
        "CREATE TABLE e.y (a TEXT)",
    )
    x, y = schemas.of(TableId("e", "x")), schemas.of(TableId("e", "y"))
    assert isinstance(x, DescribedTable)
    assert isinstance(y, DescribedTable)
    assert (x.columns[0].charset, y.columns[0].charset) == ("gbk", "latin1")
    statement = Statement("DROP DATABASE e", "", 0, BinlogPosition("b.1", 4))
    assert set(schemas.apply(statement, classify(statement))) == {TableId("e", ""), TableId("e", "x"), TableId("e", "y")}
    assert schemas.of(TableId("e", "x")) is None


def test_names_in_any_case_are_one_table_where_the_server_says_so() -> None:
    schemas = Schemas(mariadb=True, folds_case=True)
    for sql in ("CREATE TABLE Orders (a INT)", "ALTER TABLE orders ADD b INT"):
        statement = Statement(sql, "Shop", 0, BinlogPosition("b.1", 4))
        schemas.apply(statement, classify(statement))
    known = schemas.of(TableId("shop", "ORDERS"))
    assert isinstance(known, DescribedTable)
    assert len(known.columns) == 2
