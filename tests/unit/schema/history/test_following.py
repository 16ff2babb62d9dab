"""Statements in every form that servers log them, followed one after the other."""

import pytest

from relay.model.change import Statement
from relay.model.positions.position import BinlogPosition
from relay.model.sql_mode import NO_MODE, SqlMode
from relay.model.table import TableId
from relay.schema import FollowedTables, classify
from relay.schema.history import DescribedTable

CREATED = "CREATE TABLE t (a INT, b VARCHAR(5), c DATE NOT NULL, PRIMARY KEY (a))"


def after(*sqls: str, mariadb: bool = True, sql_mode: SqlMode = NO_MODE) -> FollowedTables:
    schemas = FollowedTables(mariadb=mariadb)
    schemas.put_database("d", "utf8mb4")
    for sql in sqls:
        statement = Statement(sql, "d", 0, BinlogPosition("b.1", 4), sql_mode)
        schemas.apply(statement, classify(statement))
    return schemas


def names(schemas: FollowedTables, table: str = "t") -> str:
    known = schemas.of(TableId("d", table))
    return (
        " ".join(column.name for column in known.columns)
        if isinstance(known, DescribedTable)
        else f"? {known}"
    )


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
        ("ALTER TABLE t ADD x INT FIRST, MODIFY c DATE FIRST", "c x a b"),
        ("ALTER TABLE t MODIFY c DATE FIRST, ADD x INT FIRST", "x c a b"),
        ("ALTER TABLE t RENAME COLUMN a TO b, RENAME COLUMN b TO a", "b a c"),
        ("ALTER TABLE t RENAME TO t, ADD x INT", "a b c x"),
        ("ALTER TABLE t ADD (x INT, y ENUM('a)','b,')), ALGORITHM=INSTANT, LOCK=NONE", "a b c x y"),
        ("ALTER TABLE t ADD COLUMN IF NOT EXISTS b INT, ADD COLUMN IF NOT EXISTS x INT", "a b c x"),
        ("ALTER TABLE t DROP COLUMN IF EXISTS zz, DROP IF EXISTS b", "a c"),
        ("ALTER TABLE t MODIFY IF EXISTS zz INT, RENAME COLUMN IF EXISTS zz TO y", "a b c"),
        ("ALTER TABLE t ADD PARTITION (PARTITION p1 VALUES LESS THAN (10))", "a b c"),
        ("ALTER TABLE t DROP PARTITION p1, p2", "a b c"),
        (
            (
                "ALTER TABLE t ADD x INT CHECK (x > 0), ADD CONSTRAINT k FOREIGN KEY (x) REFERENCES "  # noqa: E501
                "o (x) ON DELETE SET NULL"
            ),
            "a b c x",
        ),
        (
            (
                "ALTER TABLE t ADD PERIOD FOR p (a, b), DROP CONSTRAINT k, DROP FOREIGN KEY f, DROP "  # noqa: E501
                "CHECK k"
            ),
            "a b c",
        ),
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
        "CREATE OR REPLACE TABLE t (z ENUM('é') CHARACTER SET ascii)",
        "CREATE OR REPLACE TABLE t (z ENUM(x'7A7A') CHARACTER SET ucs2)",
        "ALTER TABLE t ADD z ENUM(0xE9)",
    ],
)
def test_what_cannot_be_followed_makes_its_table_unknown_and_no_other(sql: str) -> None:
    schemas = after(CREATED, "CREATE TABLE o (x INT)", sql)
    assert names(schemas).startswith("? ")
    assert names(schemas, "o") == "x"


ORACLE_TYPES = (
    "a DATE, b VARCHAR2(9), c NUMBER, d NUMBER(5), e RAW(3), f CLOB, g BLOB, h mariadb_schema.DATE"
)


@pytest.mark.parametrize(
    ("sql_mode", "sqls", "columns"),
    [
        (
            SqlMode.NO_BACKSLASH_ESCAPES,
            (
                CREATED,
                (
                    r"ALTER TABLE t MODIFY a VARCHAR(5) DEFAULT '\', RENAME COLUMN b TO bb, "
                    r"MODIFY c INT COMMENT 'x\'"
                ),
            ),
            "a varchar, bb varchar, c int",
        ),
        (
            SqlMode.ANSI_QUOTES,
            ('CREATE TABLE "t" ("a""b" INT, "c\\" DATE DEFAULT \'x\\\'y\')',),
            'a"b int, c\\ date',
        ),
        (
            SqlMode.ANSI_QUOTES | SqlMode.MSSQL,
            ("CREATE TABLE [t] ([a b] INT, [c]]d] INT)",),
            "a b int, c]d int",
        ),
        (
            SqlMode.ORACLE,
            (f"CREATE TABLE t ({ORACLE_TYPES})",),
            (
                "a datetime, b varchar, c double, d decimal, e varbinary, f longtext, g "
                "longblob, h date"
            ),
        ),
        (SqlMode.MAXDB, ("CREATE TABLE t (a TIMESTAMP, b DATE)",), "a datetime, b date"),
        (SqlMode.REAL_AS_FLOAT, ("CREATE TABLE t (a REAL, b DOUBLE)",), "a float, b double"),
        (
            NO_MODE,
            ("CREATE TABLE t (a REAL, b oracle_schema.DATE, c DATE)",),
            "a double, b datetime, c date",
        ),
    ],
)
def test_statements_mean_what_they_mean_in_the_mode_of_their_session(
    sql_mode: SqlMode, sqls: tuple[str, ...], columns: str
) -> None:
    known = after(*sqls, sql_mode=sql_mode).of(TableId("d", "t"))
    assert isinstance(known, DescribedTable)
    assert ", ".join(f"{column.name} {column.kind}" for column in known.columns) == columns


def test_labels_end_where_the_mode_says() -> None:
    for sql_mode, labels in ((SqlMode.NO_BACKSLASH_ESCAPES, ("x\\", "y")), (NO_MODE, ("x','y",))):
        written = "ENUM('x\\','y')" if sql_mode else "ENUM('x\\',''y')"
        known = after(f"CREATE TABLE t (a {written})", sql_mode=sql_mode).of(TableId("d", "t"))
        assert isinstance(known, DescribedTable)
        assert known.columns[0].labels == labels


def test_a_statement_that_sets_its_own_mode_makes_its_table_unknown() -> None:
    assert names(
        after(CREATED, "SET STATEMENT sql_mode=ORACLE FOR CREATE OR REPLACE TABLE t (a DATE)")
    ).startswith("? ")
    assert names(after(CREATED, "SET STATEMENT sql_mode=ORACLE FOR DROP TABLE t")) == "? None"


GENERATED_KEY = "`my_row_id` bigint unsigned NOT NULL AUTO_INCREMENT /*!80023 INVISIBLE */"


@pytest.mark.parametrize(
    ("sqls", "columns"),
    [
        (("ALTER TABLE g ADD z INT FIRST",), "my_row_id z a"),
        (
            ("ALTER TABLE g ADD z INT FIRST, ADD y INT FIRST, MODIFY a BIGINT FIRST",),
            "my_row_id a y z",
        ),
        (
            (
                "CREATE TABLE h LIKE g",
                "RENAME TABLE g TO x, h TO g",
                "ALTER TABLE g MODIFY a BIGINT FIRST",
            ),
            "my_row_id a",
        ),
        (
            ("ALTER TABLE g ALTER my_row_id SET VISIBLE", "ALTER TABLE g ADD z INT FIRST"),
            "z my_row_id a",
        ),
        (("ALTER TABLE g DROP PRIMARY KEY, DROP my_row_id, ADD z INT PRIMARY KEY FIRST",), "z a"),
    ],
)
def test_a_generated_key_stays_the_first_column_as_in_mysql(
    sqls: tuple[str, ...], columns: str
) -> None:
    created = (
        f"CREATE TABLE `g` (\n  {GENERATED_KEY},\n  `a` int DEFAULT NULL,\n  PRIMARY KEY "
        f"(`my_row_id`)\n)"
    )
    assert names(after(created, *sqls, mariadb=False), "g") == columns


def test_mariadb_has_no_generated_key() -> None:
    created = (
        f"CREATE TABLE t ({GENERATED_KEY.replace('/*!80023 INVISIBLE */', 'INVISIBLE')}, a INT, "
        f"PRIMARY KEY (my_row_id))"
    )
    assert names(after(created, "ALTER TABLE t ADD z INT FIRST")) == "z my_row_id a"


def test_a_sequence_has_columns_that_no_statement_names() -> None:
    created = after("CREATE SEQUENCE t")
    values = (
        "next_not_cached_value minimum_value maximum_value start_value increment cache_size "
        "cycle_option cycle_count"
    )
    assert names(created) == values
    assert (
        names(after("CREATE SEQUENCE t", "RENAME TABLE t TO u", "ALTER SEQUENCE u RESTART"), "u")
        == values
    )
    assert names(after("CREATE SEQUENCE t", "DROP SEQUENCE IF EXISTS d.t, e.f")) == "? None"
    assert names(after(CREATED, "CREATE SEQUENCE IF NOT EXISTS t")) == "a b c"
    for sqls in (
        ("CREATE SEQUENCE t AS INT UNSIGNED",),
        ("CREATE SEQUENCE t", "ALTER SEQUENCE t AS INT UNSIGNED"),
    ):
        typed = after(*sqls).of(TableId("d", "t"))
        assert isinstance(typed, DescribedTable)
        assert [(column.kind, column.unsigned) for column in typed.columns[3:5]] == [
            ("int", True),
            ("bigint", False),
        ]


def columns_after(*sqls: str, mariadb: bool = True) -> str:
    known = after(*sqls, mariadb=mariadb).of(TableId("d", "t"))
    assert isinstance(known, DescribedTable)
    return ", ".join(
        f"{column.name} {column.kind}{list(column.labels) or ''}" for column in known.columns
    )


def test_columns_are_what_servers_make_of_them() -> None:
    assert (
        columns_after("CREATE TABLE t (a VARCHAR(20000), b VARBINARY(65536), c VARCHAR(16383))")
        == "a mediumtext, b mediumblob, c varchar"
    )
    assert (
        columns_after("CREATE TABLE t (a ENUM('x ', x'7A', 0x7b7c, b'01100001'))")
        == "a enum['x', 'z', '{|', 'a']"
    )
    assert columns_after("CREATE TABLE t (a SET('x ') CHARACTER SET binary)") == "a set['x ']"
    assert (
        columns_after(
            "CREATE TABLE t (a INT)",
            "ALTER TABLE t ADD b TEXT CHARSET latin1, CONVERT TO CHARACTER SET binary",
        )
        == "a int, b blob"
    )
    kept = after(CREATED, "ALTER TABLE t ADD COLUMN IF NOT EXISTS b INT PRIMARY KEY").of(
        TableId("d", "t")
    )
    assert isinstance(kept, DescribedTable)
    assert kept.primary_key == ("a",)


def test_labels_that_servers_convert_by_their_bytes_are_unknown() -> None:
    for charset in ("latin1", "ucs2"):
        made = f"CREATE TABLE t (a ENUM('é') CHARACTER SET {charset})"
        assert names(after(made, "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4")).startswith("? ")
    assert (
        names(
            after(
                "CREATE TABLE t (a ENUM('é') CHARACTER SET utf8mb3)",
                "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4",
            )
        )
        == "a"
    )


def test_what_a_server_writes_itself_has_escapes_in_every_mode() -> None:
    written = "CREATE TABLE `t` (\n  `a` enum('b\\\\') DEFAULT NULL\n)"
    assert names(after(written, sql_mode=SqlMode.NO_BACKSLASH_ESCAPES)).startswith("? ")
    assert names(after(written)) == "a"
    quoted = 'CREATE TABLE "t" (\n  "a" int DEFAULT NULL\n)'
    assert names(after(quoted, sql_mode=SqlMode.ANSI | SqlMode.ANSI_QUOTES)).startswith("? ")
    assert (
        names(after(f"{quoted} DEFAULT CHARSET=gbk", sql_mode=SqlMode.ANSI | SqlMode.ANSI_QUOTES))
        == "a"
    )
    assert (
        names(after(quoted.replace("\n", ""), sql_mode=SqlMode.ANSI | SqlMode.ANSI_QUOTES)) == "a"
    )


def test_a_statement_that_failed_makes_its_tables_unknown() -> None:
    schemas = after(CREATED)
    failed = Statement(
        "CREATE OR REPLACE TABLE t (x TEXT PRIMARY KEY)",
        "d",
        0,
        BinlogPosition("b.1", 4),
        failed=True,
    )
    assert schemas.apply(failed, classify(failed)) == [TableId("d", "t")]
    assert names(schemas).startswith("? ")


def test_columns_of_periods_hold_no_null() -> None:
    def nullable(*sqls: str) -> list[bool | None]:
        known = after(*sqls).of(TableId("d", "t"))
        assert isinstance(known, DescribedTable)
        return [column.nullable for column in known.columns]

    created = "CREATE TABLE t (a INT, s DATE, e DATE, PERIOD FOR app (s, e))"
    assert nullable(created) == [True, False, False]
    assert nullable(created, "ALTER TABLE t MODIFY s DATETIME, MODIFY a BIGINT") == [
        True,
        None,
        False,
    ]
    assert nullable(
        "CREATE TABLE t (a INT, s DATE, e DATE)", "ALTER TABLE t ADD PERIOD FOR app (s, e)"
    ) == [True, False, False]


def test_times_of_versions_that_were_declared_are_the_only_ones() -> None:
    system = (
        "s TIMESTAMP(6) GENERATED ALWAYS AS ROW START, e TIMESTAMP(6) GENERATED ALWAYS AS ROW END, "
        "PERIOD FOR SYSTEM_TIME (s, e)"
    )
    schemas = after(f"CREATE TABLE t (a INT PRIMARY KEY, {system}) WITH SYSTEM VERSIONING")
    known = schemas.of(TableId("d", "t"))
    assert isinstance(known, DescribedTable)
    assert (names(schemas), known.primary_key) == ("a s e", ("a", "e"))
    assert [column.nullable for column in known.columns] == [False, False, False]
    made = f"CREATE TABLE t (a INT, {system}) WITH SYSTEM VERSIONING"
    assert names(after(made, "ALTER TABLE t ADD x INT PRIMARY KEY")).startswith("? ")
    assert names(after(made, "ALTER TABLE t ADD x INT")) == "a s e x"


def test_renames_of_migration_tools_move_the_columns() -> None:
    ghost = after(
        CREATED,
        "CREATE TABLE _t_gho LIKE t",
        "ALTER TABLE _t_gho ADD x INT",
        "RENAME TABLE t TO _t_del, _t_gho TO t",
    )
    assert (names(ghost), names(ghost, "_t_del"), names(ghost, "_t_gho")) == (
        "a b c x",
        "a b c",
        "? None",
    )
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
    versioned = after(
        CREATED, "ALTER TABLE t ADD SYSTEM VERSIONING", "ALTER TABLE t ADD x INT, ADD y INT FIRST"
    )
    assert names(versioned) == "y a b c x row_start row_end"
    assert (
        names(after(CREATED, "ALTER TABLE t ADD SYSTEM VERSIONING, ADD x INT"))
        == "a b c x row_start row_end"
    )
    assert (
        names(
            after(
                CREATED,
                "ALTER TABLE t ADD SYSTEM VERSIONING",
                "ALTER TABLE t DROP SYSTEM VERSIONING, ADD x INT",
            )
        )
        == "a b c x"
    )
    own = after("CREATE TABLE t (row_start INT, row_end INT)", "ALTER TABLE t ADD x INT")
    assert names(own) == "row_start row_end x"


def test_keys_follow_their_columns() -> None:
    def key(*sqls: str) -> tuple[str, ...]:
        known = after(CREATED, *sqls).of(TableId("d", "t"))
        assert isinstance(known, DescribedTable)
        return known.primary_key

    assert key() == ("a",)
    assert key("ALTER TABLE t CHANGE a z INT") == ("z",)
    assert key("ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY USING BTREE (c, b(3))") == (
        "c",
        "b",
    )
    assert key("ALTER TABLE t DROP PRIMARY KEY") == ()
    versioned = "ALTER TABLE t ADD SYSTEM VERSIONING"
    assert key(versioned) == ("a", "row_end")
    assert key(versioned, "ALTER TABLE t CHANGE a z INT") == ("z", "row_end")
    assert key(versioned, "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (c)") == ("c", "row_end")
    assert key(versioned, "ALTER TABLE t DROP SYSTEM VERSIONING") == ("a",)
    assert key(versioned, "ALTER TABLE t DROP PRIMARY KEY") == ()
    assert key("CREATE OR REPLACE TABLE t (a INT, row_end INT, PRIMARY KEY (row_end, a))") == (
        "row_end",
        "a",
    )
    assert key("DROP INDEX `PRIMARY` ON t") == ()
    assert key("ALTER TABLE t DROP a") == ()
    assert key("ALTER TABLE t DROP a, ADD z SERIAL PRIMARY KEY FIRST") == ("z",)


def test_statements_that_change_no_column_change_nothing() -> None:
    schemas = after(CREATED)
    for sql in (
        "ALTER TABLE t ENGINE=InnoDB",
        "ALTER TABLE t DROP INDEX IF EXISTS none",
        "ALTER TABLE other COMMENT = 'ADD KEY k (a)'",
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
    assert set(schemas.apply(statement, classify(statement))) == {
        TableId("e", ""),
        TableId("e", "x"),
        TableId("e", "y"),
    }
    assert schemas.of(TableId("e", "x")) is None


def test_names_in_any_case_are_one_table_where_the_server_says_so() -> None:
    schemas = FollowedTables(mariadb=True, folds_case=True)
    for sql in ("CREATE TABLE Orders (a INT)", "ALTER TABLE orders ADD b INT"):
        statement = Statement(sql, "Shop", 0, BinlogPosition("b.1", 4))
        schemas.apply(statement, classify(statement))
    known = schemas.of(TableId("shop", "ORDERS"))
    assert isinstance(known, DescribedTable)
    assert len(known.columns) == 2
