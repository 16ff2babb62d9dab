"""Column types remembered from DDL, statement by statement."""

import pytest

from relay.model.change import Statement
from relay.model.positions.position import BinlogPosition
from relay.model.table import Column, ColumnType, TableId, TableMap
from relay.schema import DeclaredTypes, classify


def texts(sqls: list[str], table: str, *names: str) -> tuple[str, ...] | None:
    """Apply statements in database d, then ask for a table's texts."""
    declared = DeclaredTypes()
    for sql in sqls:
        statement = Statement(sql, "d", 0, BinlogPosition("b", 4))
        declared.apply(statement, classify(statement))
    return declared.texts(
        TableMap(TableId("d", table), tuple(Column(name, ColumnType.LONG, True) for name in names))
    )


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("INT", "INT"),
        ("int unsigned not null", "int unsigned"),
        ("INT ( 8 ) ZEROFILL", "INT(8) unsigned zerofill"),
        ("BIGINT SIGNED", "BIGINT"),
        ("DECIMAL( 5 , 2 ) UNSIGNED", "DECIMAL(5,2) unsigned"),
        ("FLOAT(24)", "FLOAT(24)"),
        ("FLOAT(25)", "double(25)"),
        ("FLOAT(30,3)", "FLOAT(30,3)"),
        ("DOUBLE PRECISION NOT NULL", "DOUBLE PRECISION"),
        ("ENUM('a,b', 'it''s', \"q'\")", "ENUM('a,b','it''s','q''')"),
        ("VARCHAR(20) CHARACTER SET latin1 COMMENT 'x, y int'", "VARCHAR(20)"),
        ("NATIONAL VARCHAR(3)", "NATIONAL VARCHAR(3)"),
        ("INT GENERATED ALWAYS AS (a+(1,2)) VIRTUAL", "INT"),
        ("DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3)", "DATETIME(3)"),
    ],
)
def test_a_type_is_printed_in_canals_form(written: str, printed: str) -> None:
    assert texts(
        [f"CREATE TABLE t (`Id` INT, c {written}, KEY k (c), CHECK (c > 0))"], "t", "id", "C"
    ) == ("INT", printed)


def test_alter_changes_what_it_names() -> None:
    created = "CREATE TABLE t (a INT, b INT, PRIMARY KEY (a))"
    assert texts(
        [created, "ALTER TABLE t ADD c BOOL AFTER a, MODIFY COLUMN b BIGINT"], "t", "a", "c", "b"
    ) == ("INT", "BOOL", "BIGINT")
    assert texts([created, "ALTER TABLE t CHANGE a x TEXT, DROP COLUMN b"], "t", "x") == ("TEXT",)
    assert texts(
        [created, "ALTER TABLE t RENAME COLUMN a TO x, ADD INDEX i (b)"], "t", "x", "b"
    ) == ("INT", "INT")
    assert texts(
        [created, "ALTER TABLE t ADD (c SET('a','b'), d DATE)"], "t", "a", "b", "c", "d"
    ) == ("INT", "INT", "SET('a','b')", "DATE")
    assert texts(
        [created, "ALTER TABLE t ADD INDEX i (b), ADD COLUMN c YEAR"], "t", "a", "b", "c"
    ) == ("INT", "INT", "YEAR")
    assert texts([created, "ALTER TABLE t DROP PRIMARY KEY, DROP b"], "t", "a") == ("INT",)


def test_names_move_and_vanish_with_their_tables() -> None:
    created = "CREATE TABLE t (a INT)"
    assert texts([created, "RENAME TABLE t TO u"], "u", "a") == ("INT",)
    assert texts([created, "RENAME TABLE t TO u"], "t", "a") is None
    swap = ["CREATE TABLE u (a BIGINT)", created, "RENAME TABLE t TO tmp, u TO t, tmp TO u"]
    assert texts(swap, "t", "a") == ("BIGINT",)
    assert texts(swap, "u", "a") == ("INT",)
    assert texts([created, "ALTER TABLE t ADD b INT, RENAME TO v"], "v", "a", "b") == ("INT", "INT")
    assert texts([created, "ALTER TABLE t RENAME TO v"], "v", "a") == ("INT",)
    assert texts([created, "DROP TABLE x, t"], "t", "a") is None
    assert texts([created, "CREATE TABLE u LIKE t"], "u", "a") == ("INT",)


def test_it_never_answers_for_names_it_did_not_see() -> None:
    assert texts([], "t", "a") is None
    assert texts(["CREATE TABLE t (a INT)"], "t", "a", "b") is None
    assert texts(["CREATE TABLE t (a INT)"], "t", "b") is None
    assert texts(["CREATE TABLE t (a INT)", "CREATE TABLE IF NOT EXISTS t (a TEXT)"], "t", "a") == (
        "INT",
    )
    assert texts(["CREATE TABLE t (a INT)", "TRUNCATE TABLE t"], "t", "a") == ("INT",)
    assert texts(["ALTER TABLE t ADD a INT"], "t", "a") is None
