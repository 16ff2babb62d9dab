"""The history of tables against real servers: what is followed equals the catalogue, and completes
bare table maps to whole ones.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pymysql
import pytest

from deploy.embedded import MySQL, SqlServer
from relay.decode import parse_table_map
from relay.model.change import RawRows
from relay.model.table import Logged, TableId, TableMap
from relay.schema import CatalogReader, FollowedTables, classify
from relay.schema.history import DescribedTable, completed
from relay.schema.type_text import type_text
from relay.source import end_of_binlog, statements_between
from tests.servers.fixtures import FreshName
from tests.support.rows.bare_maps import bare_map
from tests.support.sources.source_reading import end_of, read, source_settings

TYPES = {
    "both": (
        "TINYINT", "SMALLINT UNSIGNED", "MEDIUMINT ZEROFILL", "INT(7)",
        "INTEGER UNSIGNED NOT NULL DEFAULT 7", "BIGINT UNSIGNED", "BOOL",
        "FLOAT", "FLOAT(30)", "FLOAT(7,3)", "DOUBLE PRECISION UNSIGNED", "REAL", "DECIMAL",
        "DEC(7)", "NUMERIC(65,30) UNSIGNED",
        "BIT", "BIT(64)", "YEAR", "DATE NOT NULL DEFAULT '2000-01-01'", "TIME(3)", (
            "DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6)"
        ),
        "TIMESTAMP(2) NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP(2)", "CHAR",
        "CHAR(20) CHARACTER SET latin1", "NCHAR(3)",
        "CHAR(255)", "CHAR(10) CHARACTER SET binary", "VARCHAR(20) COLLATE utf8mb4_bin",
        "VARCHAR(300) CHARSET gbk", "VARCHAR(9) ASCII",
        "NATIONAL VARCHAR(7)", (
            "CHARACTER VARYING(5) CHARACTER SET utf8mb3"
        ), "VARCHAR(3) CHARACTER SET binary", "BINARY", "BINARY(255)",
        "VARBINARY(1000)", "TINYTEXT", "TEXT CHARACTER SET ucs2", "TEXT(100)", "TEXT(70000)",
        "MEDIUMTEXT", "LONGTEXT", "LONG VARCHAR",
        "LONG VARBINARY", "TINYBLOB", "BLOB", "BLOB(100000)", "MEDIUMBLOB", "LONGBLOB", "JSON",
        "ENUM('a','b''c','d,e','(f)','g\\\\h')", (
            "ENUM('x') CHARACTER SET latin1 NOT NULL"
        ), "SET('a','b','c')",
        "ENUM('\u00e9','\u4e2d') CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
        "SET('1','2','3','4','5','6','7','8','9') CHARACTER SET gbk",
        "GEOMETRY", "POINT", "LINESTRING", "MULTIPOLYGON", "INT GENERATED ALWAYS AS (1+1) STORED",
        "INT AS (2*(3+4)) VIRTUAL",
        "INT COMMENT 'a, b) NOT NULL' CHECK ({c} > 0 OR {c} IS NULL)", "VARCHAR(10) DEFAULT 'x'", "INT UNSIGNED DEFAULT -0",  # noqa: E501
        "VARCHAR(10) NOT NULL DEFAULT '' INVISIBLE",
    ),
    "mysql": (
        *("VECTOR(3)", (
            "VARCHAR(20) DEFAULT (CONCAT('a', ',', 'b'))"
        ), "GEOMETRY SRID 4326", "GEOMETRYCOLLECTION"),
        "JSON DEFAULT (JSON_ARRAY(1))",
    ),
    "mariadb": (
        "UUID", "INET6", "INET4", "VARCHAR(100) COMPRESSED", (
            "VARCHAR(100) COMPRESSED CHARACTER SET latin1"
        ), "VARBINARY(100) COMPRESSED",
        "TEXT COMPRESSED", "INT WITHOUT SYSTEM VERSIONING", "TIMESTAMP",
        "INT CHECK (c1 > 0 OR c1 IS NULL)",
    ),
}  # fmt: skip

ALTERS = (
    "ALTER TABLE t ADD x INT AFTER c1, ADD y VARCHAR(9) FIRST, ADD COLUMN z DATE",
    (
        "ALTER TABLE t DROP x, CHANGE z zz DATETIME(3) NOT NULL DEFAULT '2000-01-01' AFTER c2, "
        "MODIFY c3 BIGINT FIRST"
    ),
    "ALTER TABLE t ADD (p INT, q TEXT, KEY k (p)), RENAME COLUMN c8 TO cc8",
    "ALTER TABLE t RENAME COLUMN p TO pp, RENAME COLUMN cc8 TO c8",
    "ALTER TABLE t RENAME COLUMN c1 TO c2, RENAME COLUMN c2 TO c1",
    (
        "ALTER TABLE t MODIFY c6 INT AFTER c7, MODIFY c5 TEXT CHARACTER SET latin1 AFTER c6, "
        "DROP COLUMN y"
    ),
    "ALTER TABLE t CONVERT TO CHARACTER SET latin1",
    "ALTER TABLE t ADD l1 VARCHAR(5)",
    "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    "ALTER TABLE t ADD u1 CHAR(4), DEFAULT CHARACTER SET = ucs2, ADD u2 ENUM('k','l')",
    "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (c7, id)",
    "ALTER TABLE t DROP PRIMARY KEY",
    "ALTER TABLE t ADD CONSTRAINT PRIMARY KEY USING BTREE (id)",
    "ALTER TABLE t CHANGE id ident INT NOT NULL",
    (
        "ALTER TABLE t ADD f1 INT FIRST, MODIFY c2 INT FIRST, ADD f2 INT AFTER c7, MODIFY c3 INT "
        "AFTER c7"
    ),
    (
        "ALTER TABLE t ADD INDEX i (c7), DROP INDEX i2, ENGINE = InnoDB, COMMENT = 'DROP c7, ADD "
        "c8 INT'"
    ),
    "CREATE INDEX i2 ON t (pp)",
    "ALTER TABLE t RENAME INDEX i TO i3, ALTER COLUMN c7 SET DEFAULT 4, ALTER c8 DROP DEFAULT",
    "ALTER TABLE t PARTITION BY KEY (ident) PARTITIONS 2",
    "ALTER TABLE t REMOVE PARTITIONING",
    "CREATE TABLE g LIKE t",
    "ALTER TABLE g ADD ghost INT FIRST",
    "RENAME TABLE t TO _t_del, g TO t",
    "ALTER TABLE _t_del RENAME TO kept, ADD after_all INT",
    "CREATE TABLE IF NOT EXISTS t (a INT)",
    "DROP TABLE kept",
    "CREATE TABLE s SELECT 1 AS one, 'a' AS two, CAST(1.5 AS DECIMAL(5,2)) AS three",
    "CREATE TABLE p (c INT PRIMARY KEY)",
    (
        "CREATE TABLE k (a INT, b CHAR PRIMARY KEY, c INT, UNIQUE (c), CHECK (a > 0), FOREIGN "
        "KEY (c) REFERENCES p (c)) CHARSET gbk"
    ),
    "ALTER DATABASE CHARACTER SET latin1",
    "CREATE TABLE w (a CHAR(10), b ENUM('x'))",
)  # fmt: skip

GENERATED_KEY = (
    "CREATE TABLE g1 (a INT)",
    "ALTER TABLE g1 ADD COLUMN z BIGINT UNSIGNED NOT NULL FIRST",
    "ALTER TABLE g1 ADD y INT FIRST, MODIFY a BIGINT FIRST",
    "CREATE TABLE g2 LIKE g1",
    "RENAME TABLE g1 TO g3, g2 TO g1",
    "ALTER TABLE g1 ADD b INT AFTER my_row_id, RENAME COLUMN a TO aa",
    "ALTER TABLE g1 ALTER my_row_id SET VISIBLE, ADD w INT FIRST",
    "ALTER TABLE g1 ADD x INT FIRST",
    "ALTER TABLE g3 DROP PRIMARY KEY, DROP my_row_id, ADD c INT PRIMARY KEY FIRST",
)
VERSIONED = (
    "CREATE TABLE v (id INT PRIMARY KEY, c1 INT WITHOUT SYSTEM VERSIONING) WITH SYSTEM VERSIONING",
    (
        "ALTER TABLE v ADD c2 INT WITHOUT SYSTEM VERSIONING AFTER id, ADD c3 VARCHAR(9) WITH "
        "SYSTEM VERSIONING"
    ),
    "ALTER TABLE v DROP SYSTEM VERSIONING",
    "ALTER TABLE v ADD SYSTEM VERSIONING",
    (
        "ALTER TABLE v ADD c4 INT WITHOUT SYSTEM VERSIONING, DROP PRIMARY KEY, ADD PRIMARY KEY "
        "(c1, id)"
    ),
)


VERSION_TIMES = (
    "s TIMESTAMP(6) AS ROW START, e TIMESTAMP(6) AS ROW END, PERIOD FOR SYSTEM_TIME (s, e)"
)
PERIODS = (
    "CREATE TABLE p (a INT, s DATE, e DATE, PERIOD FOR app (s, e))",
    "ALTER TABLE p MODIFY s DATETIME NULL AFTER e, MODIFY e DATETIME",
    "ALTER TABLE p DROP PERIOD FOR app, ADD x INT",
    "CREATE TABLE q (a INT, s DATETIME(3), e DATETIME(3))",
    "ALTER TABLE q ADD PERIOD FOR app (s, e)",
    f"CREATE TABLE r (a INT PRIMARY KEY, {VERSION_TIMES}) WITH SYSTEM VERSIONING",
)

SEQUENCES = (
    "CREATE SEQUENCE s START 5 CACHE 3",
    "CREATE TABLE s3 LIKE s",
    "ALTER SEQUENCE s INCREMENT 5",
    "CREATE OR REPLACE SEQUENCE s ENGINE=MyISAM",
    "ALTER TABLE s COMMENT 'a sequence'",
    "RENAME TABLE s TO s2",
    "CREATE TABLE t (id INT PRIMARY KEY, n BIGINT DEFAULT NEXTVAL(s2))",
    "DROP TABLE s3",
    "DROP TABLE t",
    "DROP SEQUENCE s2",
)
MODES = {
    "both": (
        (
            "NO_BACKSLASH_ESCAPES",
            (
                r"CREATE TABLE m (id INT PRIMARY KEY, a ENUM('x\','y'), b VARCHAR(5) DEFAULT "
                r"'\', c INT COMMENT 'x\')"
            ),
        ),
        (
            "NO_BACKSLASH_ESCAPES",
            (
                r"ALTER TABLE m MODIFY b VARCHAR(5) DEFAULT '\', RENAME COLUMN id TO idd, MODIFY "
                r"c INT COMMENT 'x\'"
            ),
        ),
        (
            "",
            (
                r"ALTER TABLE m MODIFY b VARCHAR(5) COMMENT 'a\', ADD x INT', ADD d ENUM('x\', "
                r"\'y', 'z\\')"
            ),
        ),
        (
            "ANSI_QUOTES",
            r"""ALTER TABLE "m" ADD "e""f" REAL, ADD "g\" ENUM('"', 'h'), ADD "PRIMARY" INT DEFAULT '1'""",  # noqa: E501
        ),
        (
            "",
            r"""ALTER TABLE m ADD i ENUM("j", "k'l"), ADD j CHAR(3) DEFAULT "xyz" COMMENT "AFTER a\", ADD y INT" """,  # noqa: E501
        ),
        (
            "ANSI,NO_BACKSLASH_ESCAPES",
            r"""CREATE TABLE "n m" (a REAL DEFAULT '1', "b\" INT COMMENT 'x\', "c" CHAR(1) DEFAULT '\')""",  # noqa: E501
        ),
        (
            "PIPES_AS_CONCAT,REAL_AS_FLOAT",
            "ALTER TABLE `n m` ADD d REAL, ADD e INT AS (length('a' || ', f INT')), ADD g REAL",
        ),
    ),
    "mysql": (),
    "mariadb": (
        (
            "ORACLE",
            (
                'CREATE TABLE o ("a" DATE, b VARCHAR2(9), c NUMBER, d NUMBER(5), e NUMBER(5, 2), '
                "f RAW(3), g CLOB, h BLOB)"
            ),
        ),
        (
            "ORACLE",
            (
                "ALTER TABLE o ADD j DATE, MODIFY b DATE, ADD k mariadb_schema.DATE, ADD i "
                "TIMESTAMP(2)"
            ),
        ),
        ("", "ALTER TABLE o ADD l oracle_schema.DATE, ADD m maxdb_schema.TIMESTAMP(3), ADD n DATE"),
        ("MAXDB", 'ALTER TABLE o ADD "p" TIMESTAMP, ADD q DATE'),
        ("MSSQL", 'CREATE TABLE [r s] ([a, b] INT, [c]]d] DATE, "e" REAL)'),
    ),
}


@pytest.fixture
def schema(database: SqlServer, fresh_name: FreshName) -> Iterator[str]:
    name = fresh_name("history")
    database.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
    yield name
    database.execute(f"DROP DATABASE {name}")


def catalogue(database: SqlServer, schema: str) -> dict[TableId, DescribedTable]:
    return {
        table: found
        for table, found in CatalogReader(source_settings(database)).snapshot().tables.items()
        if table.database == schema
    }


def alike(known: object, found: object) -> bool:
    """Whether both say the same.

    Where a statement leaves it open whether a column holds NULL, both answers are right.

    Indexes that are not known any more contradict nothing.
    """
    if (
        not isinstance(known, DescribedTable)
        or not isinstance(found, DescribedTable)
        or len(known.columns) != len(found.columns)
    ):
        return known == found
    pairs = zip(known.columns, found.columns, strict=True)
    closed = tuple(
        replace(mine, nullable=theirs.nullable) if mine.nullable is None else mine
        for mine, theirs in pairs
    )
    return (
        replace(
            known, columns=closed, indexes=found.indexes if known.indexes is None else known.indexes
        )
        == found
    )


def follow(
    database: SqlServer,
    schema: str,
    sqls: Iterable[str],
    schemas: FollowedTables,
    sql_mode: str = "",
    *also: str,
) -> None:
    """Run each statement, follow what the server logged of it, and compare with the catalogue."""
    for sql in sqls:
        before = end_of(database)
        with database.connect(database=schema) as connection, connection.cursor() as cursor:
            for setting in (f"sql_mode = '{sql_mode}'", *also):
                cursor.execute(f"SET SESSION {setting}")
            if database.family == "mariadb":
                cursor.execute("SET SESSION system_versioning_alter_history = KEEP")
            try:
                cursor.execute(sql)
            except pymysql.err.MySQLError as refused:
                raise AssertionError(f"{sql}: {refused}") from refused
        for statement, _, _ in statements_between(
            source_settings(database), before, end_of_binlog(source_settings(database))
        ):
            if statement.database == schema:
                schemas.apply(statement, classify(statement))
        followed = {
            table: known for table, known in schemas.tables.items() if table.database == schema
        }
        found = catalogue(database, schema)
        assert followed.keys() == found.keys(), sql
        for table, known in followed.items():
            assert alike(known, found[table]), f"{sql}: {known} {found[table]}"


def columns_for(database: SqlServer) -> list[str]:
    return [
        f"c{number} {text.replace('{c}', f'c{number}')}"
        for number, text in enumerate((*TYPES["both"], *TYPES[database.family]), 1)
    ]


def started(database: SqlServer, schema: str) -> FollowedTables:
    schemas = FollowedTables(mariadb=database.family == "mariadb", server_charset="utf8mb4")
    schemas.put_database(schema, "utf8mb4")
    return schemas


def test_what_create_and_alter_declare_is_what_the_catalogue_says(
    database: SqlServer, schema: str
) -> None:
    columns = columns_for(database)
    # A column may be without the table's versions only where the table has them.
    adds = [
        f"ALTER TABLE b ADD COLUMN {column}"
        for column in columns
        if "SYSTEM VERSIONING" not in column
    ]
    schemas = started(database, schema)
    follow(
        database,
        schema,
        [
            f"CREATE TABLE a (id INT PRIMARY KEY, {', '.join(columns)})",
            "CREATE TABLE b (c1 INT)",
            *adds[1:],
        ],
        schemas,
    )


def test_versions_of_rows_are_followed_as_mariadb_keeps_them(
    database: SqlServer, schema: str
) -> None:
    if database.family != "mariadb":
        pytest.skip("tables of MariaDB")
    follow(database, schema, list(VERSIONED), started(database, schema))


@pytest.mark.parametrize("session", ["ON", "OFF"])
def test_a_generated_key_stays_first_whatever_the_session_that_alters_it_says(
    mysql_9: MySQL, fresh_name: FreshName, session: str
) -> None:
    schema = fresh_name("history")
    mysql_9.execute(f"CREATE DATABASE {schema} CHARACTER SET utf8mb4")
    schemas = started(mysql_9, schema)
    follow(
        mysql_9, schema, GENERATED_KEY[:1], schemas, "", "sql_generate_invisible_primary_key = ON"
    )
    follow(
        mysql_9,
        schema,
        GENERATED_KEY[1:],
        schemas,
        "",
        f"sql_generate_invisible_primary_key = {session}",
    )
    mysql_9.execute(f"DROP DATABASE {schema}")


def test_periods_are_followed_as_mariadb_keeps_them(database: SqlServer, schema: str) -> None:
    if database.family != "mariadb":
        pytest.skip("tables of MariaDB")
    follow(database, schema, PERIODS, started(database, schema))


def test_sequences_are_followed_as_mariadb_keeps_them(database: SqlServer, schema: str) -> None:
    if database.family != "mariadb":
        pytest.skip("tables of MariaDB")
    follow(database, schema, SEQUENCES, started(database, schema))


def test_the_rows_of_a_dropped_sequence_have_names(database: SqlServer, schema: str) -> None:
    if database.family != "mariadb":
        pytest.skip("tables of MariaDB")
    schemas = started(database, schema)
    follow(database, schema, SEQUENCES[:1], schemas)
    known = schemas.of(TableId(schema, "s"))
    assert isinstance(known, DescribedTable)
    (raw,) = written(database, schema, "SELECT NEXT VALUE FOR s", "DROP SEQUENCE s")
    for logged in (Logged.MINIMAL, Logged.NOTHING):
        assert_completed(raw, logged, known)


def test_statements_are_read_in_the_sql_mode_of_their_session(
    database: SqlServer, schema: str
) -> None:
    schemas = started(database, schema)
    for sql_mode, sql in (*MODES["both"], *MODES[database.family]):
        follow(database, schema, [sql], schemas, sql_mode)


def test_alter_is_followed_as_the_servers_apply_it(database: SqlServer, schema: str) -> None:
    created = (
        f"CREATE TABLE t (id INT, {', '.join(f'c{number} INT' for number in range(1, 9))}, PRIMARY "
        f"KEY (id), KEY i2 (c8))"
    )
    follow(database, schema, [created, *(sql for sql in ALTERS)], started(database, schema))


def written(database: SqlServer, schema: str, *sqls: str) -> list[RawRows]:
    """Run the statements, and return the rows that they logged."""
    before = end_of(database)
    with database.connect(database=schema) as connection, connection.cursor() as cursor:
        for sql in sqls:
            cursor.execute(sql)
    rows = [
        item
        for item in read(source_settings(database), before, end_of(database))
        if isinstance(item, RawRows)
    ]
    assert rows
    return rows


def assert_completed(raw: RawRows, logged: Logged, found: DescribedTable) -> None:
    """What is known of a table makes its bare table map the whole one that the server wrote."""
    whole = parse_table_map(raw.table_map, mariadb=raw.mariadb)
    bare = parse_table_map(bare_map(raw.table_map, logged), mariadb=raw.mariadb)
    assert bare.logged is logged
    assert bare.unknown
    made = completed(bare, found)
    assert isinstance(made, TableMap), made
    for mine, theirs in zip(made.columns, whole.columns, strict=True):
        # MariaDB does not log what is invisible, and the sign of a year means nothing; nobody asks
        # for either.
        assert (
            replace(
                mine,
                visible=theirs.visible,
                unsigned=theirs.unsigned if mine.type.name == "YEAR" else mine.unsigned,
            )
            == theirs
        )
    assert made.primary_key == whole.primary_key
    for column, known in zip(whole.columns, found.columns, strict=True):
        assert (
            known.kind not in ("varchar", "varbinary")
            or type_text(column) == f"{known.kind}({known.measures[0]})"
        ), known.name


@pytest.mark.parametrize("logged", [Logged.MINIMAL, Logged.NOTHING])
def test_bare_table_maps_become_the_whole_ones(
    database: SqlServer, schema: str, logged: Logged
) -> None:
    created = f"CREATE TABLE a (id INT, {', '.join(columns_for(database))}, PRIMARY KEY (c4, id))"
    for raw in written(database, schema, created, "INSERT INTO a (id, c4) VALUES (1, 1)"):
        assert_completed(raw, logged, catalogue(database, schema)[TableId(schema, "a")])


@pytest.mark.parametrize("logged", [Logged.MINIMAL, Logged.NOTHING])
def test_bare_table_maps_with_versions_become_the_whole_ones(
    database: SqlServer, schema: str, logged: Logged
) -> None:
    if database.family != "mariadb":
        pytest.skip("tables of MariaDB")
    created = VERSIONED[0], "SET SESSION system_versioning_alter_history = KEEP", VERSIONED[1]
    for raw in written(database, schema, *created, "INSERT INTO v (id, c1) VALUES (1, 1)"):
        assert_completed(raw, logged, catalogue(database, schema)[TableId(schema, "v")])
