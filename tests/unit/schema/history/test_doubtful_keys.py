"""Keys that releases make differently, and tables that statements about partitions make or take
away.
"""

import pytest

from relay.model.change import Statement
from relay.model.positions.position import BinlogPosition
from relay.model.sql_mode import SqlMode
from relay.model.table import TableId
from relay.schema.ddl import classify
from relay.schema.history import DescribedTable, FollowedTables

TABLE = TableId("d", "t")


def after(*sqls: str, mariadb: bool = True) -> FollowedTables:
    schemas = FollowedTables(mariadb=mariadb, server_charset="latin1")
    for sql in sqls:
        statement = Statement(sql, "d", 0, BinlogPosition("b.1", 4))
        schemas.apply(statement, classify(statement))
    return schemas


def table(*sqls: str, mariadb: bool = True) -> DescribedTable:
    known = after(*sqls, mariadb=mariadb).of(TABLE)
    assert isinstance(known, DescribedTable), known
    return known


@pytest.mark.parametrize(
    "words", ["KEY UNIQUE", "UNIQUE KEY PRIMARY KEY", "UNIQUE PRIMARY KEY", "PRIMARY KEY UNIQUE"]
)
def test_a_column_that_is_primary_and_unique_leaves_the_keys_of_mariadb_unknown(words: str) -> None:
    for sqls in (
        (f"CREATE TABLE t (a INT {words})",),
        ("CREATE TABLE t (b INT)", f"ALTER TABLE t ADD a INT {words}"),
    ):
        assert table(*sqls).indexes is None
        assert table(*sqls).primary_key == ("a",)
        assert [index.name for index in table(*sqls, mariadb=False).indexes or ()] == ["a"]


DECLARED_TIMES = (
    "CREATE TABLE t (a INT, s TIMESTAMP(6) AS ROW START, e TIMESTAMP(6) AS ROW END, PERIOD FOR "
    "SYSTEM_TIME (s, e)) WITH SYSTEM VERSIONING"
)


@pytest.mark.parametrize(
    "sqls",
    [
        ("CREATE TABLE t (a POINT NOT NULL UNIQUE)",),
        ("CREATE TABLE t (a INT, b GEOMETRY NOT NULL, UNIQUE (a, b))",),
        ("CREATE TABLE t (a POINT NOT NULL)", "CREATE UNIQUE INDEX k ON t (a)"),
        (
            "CREATE TABLE t (a BLOB NOT NULL, UNIQUE (a(20)))",
            "ALTER TABLE t MODIFY a POINT NOT NULL",
        ),
        (
            "CREATE TABLE t (a ENUM('y') CHARACTER SET latin1, UNIQUE (a))",
            "ALTER TABLE t CHANGE a a NATIONAL CHAR(4)",
        ),
        (DECLARED_TIMES, "CREATE UNIQUE INDEX k ON t (a)"),
    ],
)
def test_keys_that_releases_make_differently_are_unknown(sqls: tuple[str, ...]) -> None:
    assert table(*sqls).indexes is None


@pytest.mark.parametrize(
    "sqls",
    [
        ("CREATE TABLE t (a TEXT, b INT, UNIQUE (a), UNIQUE (b))",),
        ("CREATE TABLE t (a VARCHAR(300) CHARACTER SET utf8mb4, b INT, UNIQUE (b), UNIQUE (a))",),
        ("CREATE TABLE t (a BLOB, b INT, UNIQUE (a))", "ALTER TABLE t ADD UNIQUE (b)"),
        ("CREATE TABLE t (a BLOB, UNIQUE k (a))", "ALTER TABLE t DROP CONSTRAINT IF EXISTS k"),
    ],
)
def test_keys_that_mariadb_may_keep_as_hashes_are_known_where_they_stay_alone(
    sqls: tuple[str, ...],
) -> None:
    assert table(*sqls).indexes is None
    assert table(*sqls, mariadb=False).indexes is not None
    assert len(table("CREATE TABLE t (a TEXT, UNIQUE (a))").indexes or ()) == 1
    assert (
        len(table("CREATE TABLE t (a VARCHAR(300), b INT, UNIQUE (a), UNIQUE (b))").indexes or ())
        == 2
    )


def test_unique_keys_of_declared_versions_end_in_the_declared_end() -> None:
    made = table(
        DECLARED_TIMES.replace(
            ", s TIMESTAMP", " PRIMARY KEY, b INT UNIQUE, UNIQUE k (a, e), s TIMESTAMP"
        )
    )
    assert made.primary_key == ("a", "e")
    assert {index.name: index.columns for index in made.indexes or ()} == {
        "b": ("b", "e"),
        "k": ("a", "e"),
    }


def test_a_prefix_goes_with_the_kind_that_may_have_one() -> None:
    created = "CREATE TABLE t (a VARCHAR(9) NOT NULL, b TEXT, UNIQUE (a(3)), UNIQUE (b(3)))"
    changed = table(created, "ALTER TABLE t MODIFY a INT NOT NULL, MODIFY b BLOB", mariadb=False)
    assert {index.name: index.prefixes for index in changed.indexes or ()} == {"a": (), "b": (3,)}


RANGES = (
    "CREATE TABLE t (a INT, b DATE) PARTITION BY RANGE (a) (PARTITION p0 VALUES LESS THAN (10))"
)


def test_a_partition_becomes_a_table_and_a_table_a_partition() -> None:
    moved = after(RANGES, "CREATE TABLE o (x INT)", "ALTER TABLE t CONVERT PARTITION p0 TO TABLE p")
    assert moved.of(TableId("d", "p")) == moved.of(TABLE)
    assert (
        after(
            RANGES,
            "CREATE TABLE o (x INT)",
            "ALTER TABLE t CONVERT TABLE o TO PARTITION p1 VALUES LESS THAN (20)",
        ).of(TableId("d", "o"))
        is None
    )
    assert isinstance(
        after("ALTER TABLE t CONVERT PARTITION p0 TO TABLE p").of(TableId("d", "p")), str
    )


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE t CONVERT PARTITION p0 TO TABLE e.p",
        "ALTER TABLE t CONVERT TABLE e.p TO PARTITION p0",
    ],
)
def test_the_table_of_a_partition_is_one_that_the_statement_changes(sql: str) -> None:
    ddl = classify(Statement(sql, "d", 0, BinlogPosition("b.1", 4)))
    assert (ddl.table, ddl.tables) == ("t", (TABLE, TableId("e", "p")))


def test_mariadbs_own_comments_are_carried_out_by_mariadb_alone() -> None:
    created = (
        "CREATE TABLE t (a INT /*M! UNSIGNED */, b INT /*!50000 UNSIGNED */, c INT /* 99999 "
        "UNSIGNED */)"
    )
    assert [column.unsigned for column in table(created).columns] == [True, True, False]
    assert [column.unsigned for column in table(created, mariadb=False).columns] == [
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(("has_oracle_types", "kind"), [(True, "datetime"), (False, "date")])
def test_old_releases_of_mariadb_give_no_other_types_in_oracles_mode(
    has_oracle_types: bool, kind: str
) -> None:
    schemas = FollowedTables(mariadb=True, has_oracle_types=has_oracle_types)
    statement = Statement(
        'CREATE TABLE t ("a" DATE)',
        "d",
        0,
        BinlogPosition("b.1", 4),
        SqlMode.ORACLE | SqlMode.ANSI_QUOTES,
    )
    schemas.apply(statement, classify(statement))
    known = schemas.of(TABLE)
    assert isinstance(known, DescribedTable)
    assert [(column.name, column.kind) for column in known.columns] == [("a", kind)]


def test_a_change_of_the_character_set_beside_one_of_keys_is_no_change_of_keys_alone() -> None:
    assert isinstance(
        after("ALTER TABLE t CONVERT TO CHARACTER SET binary, DROP KEY IF EXISTS e").of(TABLE), str
    )
