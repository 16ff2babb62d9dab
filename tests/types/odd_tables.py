"""Tables that made other readers of the binlog stop, by the names that docs/canal/types.md gives
them; `t` in each holds one row.
"""

from dataclasses import dataclass
from typing import Final

_BOTH: Final = ("mysql", "mariadb")


@dataclass(frozen=True, slots=True)
class OddTable:
    """The statements that make it and fill it, the families of servers that have it, and what the
    table is called at last.
    """

    statements: tuple[str, ...]
    families: tuple[str, ...] = _BOTH
    table: str = "t"


ODD_TABLES: Final = {
    "YEAR before a signed number": OddTable(
        (
            "CREATE TABLE t (id INT PRIMARY KEY, y YEAR, n INT, d DECIMAL(5,1))",
            "INSERT INTO t VALUES (1, 2024, -5, -1.5)",
        )
    ),
    "column names beyond ASCII": OddTable(
        (
            "CREATE TABLE t (id INT PRIMARY KEY, `中文列` INT, `ü` INT, `€` INT)",
            "INSERT INTO t VALUES (1, 2, 3, 4)",
        )
    ),
    "a backtick in a column's name": OddTable(
        ("CREATE TABLE t (id INT PRIMARY KEY, `a``b` INT)", "INSERT INTO t VALUES (1, 2)")
    ),
    "a table named beyond ASCII": OddTable(
        ("CREATE TABLE `表` (id INT PRIMARY KEY, n INT)", "INSERT INTO `表` VALUES (1, 2)"),
        table="表",
    ),
    "SERIAL": OddTable(
        ("CREATE TABLE t (id SERIAL, n INT)", "INSERT INTO t VALUES (18446744073709551614, 2)")
    ),
    "DROP PRIMARY KEY": OddTable(
        (
            "CREATE TABLE t (id INT PRIMARY KEY, n INT)",
            "ALTER TABLE t DROP PRIMARY KEY",
            "INSERT INTO t VALUES (1, 2)",
        )
    ),
    "INVISIBLE columns": OddTable(
        (
            "CREATE TABLE t (id INT PRIMARY KEY, n INT DEFAULT 7 INVISIBLE, m INT)",
            "INSERT INTO t VALUES (1, 2)",
        )
    ),
    "generated columns": OddTable(
        (
            (
                "CREATE TABLE t (id INT PRIMARY KEY, s INT AS (id + 1) STORED, v INT AS (id + 2) "
                "VIRTUAL, n INT)"
            ),
            "INSERT INTO t (id, n) VALUES (1, 9)",
        )
    ),
    "expressions as DEFAULT, and CHECK": OddTable(
        (
            "CREATE TABLE t (id INT PRIMARY KEY, n INT DEFAULT (1 + 2), CHECK (n > 0))",
            "INSERT INTO t (id) VALUES (1)",
        )
    ),
    "a table without a key": OddTable(
        ("CREATE TABLE t (n INT, v VARCHAR(9))", "INSERT INTO t VALUES (1, 'a')")
    ),
    "ALTER with RENAME and ADD COLUMN": OddTable(
        (
            "CREATE TABLE a (id INT PRIMARY KEY)",
            "ALTER TABLE a RENAME t, ADD COLUMN n INT",
            "INSERT INTO t VALUES (1, 2)",
        )
    ),
    "CREATE TABLE IF NOT EXISTS on a table that is there": OddTable(
        (
            "CREATE TABLE t (id INT PRIMARY KEY, n INT)",
            "CREATE TABLE IF NOT EXISTS t (a INT, b INT, c INT)",
            "INSERT INTO t VALUES (1, 2)",
        )
    ),
    "VECTOR": OddTable(
        (
            (
                "CREATE TABLE t (id INT PRIMARY KEY, v VECTOR(2), n INT, a VARCHAR(9) CHARSET "
                "latin1, b VARCHAR(9), c VARCHAR(9) CHARSET gbk)"
            ),
            "INSERT INTO t VALUES (1, TO_VECTOR('[1,2]'), 3, 'é', '中', '中')",
        ),
        ("mysql",),
    ),
    "a generated invisible primary key": OddTable(
        (
            "SET SESSION sql_generate_invisible_primary_key = ON",
            "CREATE TABLE t (n INT)",
            "INSERT INTO t VALUES (2)",
        ),
        ("mysql",),
    ),
    "SYSTEM VERSIONING": OddTable(
        (
            "CREATE TABLE t (id INT PRIMARY KEY, n INT) WITH SYSTEM VERSIONING",
            "INSERT INTO t VALUES (1, 2)",
        ),
        ("mariadb",),
    ),
    "PERIOD FOR": OddTable(
        (
            "CREATE TABLE t (id INT PRIMARY KEY, a DATE, b DATE, PERIOD FOR p (a, b))",
            "INSERT INTO t VALUES (1, '2024-01-01', '2024-02-01')",
        ),
        ("mariadb",),
    ),
    "COMPRESSED columns": OddTable(
        (
            "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(200) COMPRESSED, b BLOB COMPRESSED)",
            "INSERT INTO t VALUES (1, REPEAT('é', 90), x'00ff')",
        ),
        ("mariadb",),
    ),
    "sequences": OddTable(
        (
            "CREATE SEQUENCE s",
            "CREATE TABLE t (id INT PRIMARY KEY, n BIGINT DEFAULT NEXTVAL(s))",
            "INSERT INTO t (id) VALUES (1)",
        ),
        ("mariadb",),
    ),
}
"""Name → table."""
