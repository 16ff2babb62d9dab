"""The history of tables against real servers: what is followed equals the catalogue, and completes bare table maps to whole ones."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pymysql
import pytest

from deploy.embedded import SqlServer
from relay.decode import parse_table_map
from relay.model.change import RawRows
from relay.model.table import Logged, TableId, TableMap
from relay.schema import CatalogReader, Schemas, classify
from relay.schema.history import DescribedTable, completed
from relay.schema.type_text import type_text
from relay.source import end_of_binlog, statements_between
from tests.support.bare_maps import bare_map
from tests.support.source_reading import end_of, read, source_settings

TYPES = {
    "both": (
        "TINYINT", "SMALLINT UNSIGNED", "MEDIUMINT ZEROFILL", "INT(7)", "INTEGER UNSIGNED NOT NULL DEFAULT 7", "BIGINT UNSIGNED", "BOOL",
        "FLOAT", "FLOAT(30)", "FLOAT(7,3)", "DOUBLE PRECISION UNSIGNED", "REAL", "DECIMAL", "DEC(7)", "NUMERIC(65,30) UNSIGNED",
        "BIT", "BIT(64)", "YEAR", "DATE NOT NULL DEFAULT '2000-01-01'", "TIME(3)", "DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6)",
        "TIMESTAMP(2) NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP(2)", "CHAR", "CHAR(20) CHARACTER SET latin1", "NCHAR(3)",
        "CHAR(255)", "CHAR(10) CHARACTER SET binary", "VARCHAR(20) COLLATE utf8mb4_bin", "VARCHAR(300) CHARSET gbk", "VARCHAR(9) ASCII",
        "NATIONAL VARCHAR(7)", "CHARACTER VARYING(5) CHARACTER SET utf8mb3", "VARCHAR(3) CHARACTER SET binary", "BINARY", "BINARY(255)",
        "VARBINARY(1000)", "TINYTEXT", "TEXT CHARACTER SET ucs2", "TEXT(100)", "TEXT(70000)", "MEDIUMTEXT", "LONGTEXT", "LONG VARCHAR",
        "LONG VARBINARY", "TINYBLOB", "BLOB", "BLOB(100000)", "MEDIUMBLOB", "LONGBLOB", "JSON",
        "ENUM('a','b''c','d,e','(f)','g\\\\h')", "ENUM('x') CHARACTER SET latin1 NOT NULL", "SET('a','b','c')",
        "ENUM('\u00e9','\u4e2d') CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
        "SET('1','2','3','4','5','6','7','8','9') CHARACTER SET gbk",
        "GEOMETRY", "POINT", "LINESTRING", "MULTIPOLYGON", "INT GENERATED ALWAYS AS (1+1) STORED", "INT AS (2*(3+4)) VIRTUAL",
        "INT COMMENT 'a, b) NOT NULL' CHECK ({c} > 0 OR {c} IS NULL)", "VARCHAR(10) DEFAULT 'x'", "INT UNSIGNED DEFAULT -0",
        "VARCHAR(10) NOT NULL DEFAULT '' INVISIBLE",
    ),
    "mysql": (
        *("VECTOR(3)", "VARCHAR(20) DEFAULT (CONCAT('a', ',', 'b'))", "GEOMETRY SRID 4326", "GEOMETRYCOLLECTION"),
        "JSON DEFAULT (JSON_ARRAY(1))",
    ),
    "mariadb": (
        "UUID", "INET6", "INET4", "VARCHAR(100) COMPRESSED", "VARCHAR(100) COMPRESSED CHARACTER SET latin1", "VARBINARY(100) COMPRESSED",
        "TEXT COMPRESSED", "INT WITHOUT SYSTEM VERSIONING", "TIMESTAMP", "INT CHECK (c1 > 0 OR c1 IS NULL)",
    ),
}  # fmt: skip

ALTERS = (
    "ALTER TABLE t ADD x INT AFTER c1, ADD y VARCHAR(9) FIRST, ADD COLUMN z DATE",
    "ALTER TABLE t DROP x, CHANGE z zz DATETIME(3) NOT NULL DEFAULT '2000-01-01' AFTER c2, MODIFY c3 BIGINT FIRST",
    "ALTER TABLE t ADD (p INT, q TEXT, KEY k (p)), RENAME COLUMN c8 TO cc8",
    "ALTER TABLE t RENAME COLUMN p TO pp, RENAME COLUMN cc8 TO c8",
    "ALTER TABLE t RENAME COLUMN c1 TO c2, RENAME COLUMN c2 TO c1",
    "ALTER TABLE t MODIFY c6 INT AFTER c7, MODIFY c5 TEXT CHARACTER SET latin1 AFTER c6, DROP COLUMN y",
    "ALTER TABLE t CONVERT TO CHARACTER SET latin1",
    "ALTER TABLE t ADD l1 VARCHAR(5)",
    "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    "ALTER TABLE t ADD u1 CHAR(4), DEFAULT CHARACTER SET = ucs2, ADD u2 ENUM('k','l')",
    "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (c7, id)",
    "ALTER TABLE t DROP PRIMARY KEY",
    "ALTER TABLE t ADD CONSTRAINT PRIMARY KEY USING BTREE (id)",
    "ALTER TABLE t CHANGE id ident INT NOT NULL",
    "ALTER TABLE t ADD INDEX i (c7), DROP INDEX i2, ENGINE = InnoDB, COMMENT = 'DROP c7, ADD c8 INT'",
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
    "CREATE TABLE k (a INT, b CHAR PRIMARY KEY, c INT, UNIQUE (c), CHECK (a > 0), FOREIGN KEY (c) REFERENCES p (c)) CHARSET gbk",
    "ALTER DATABASE CHARACTER SET latin1",
    "CREATE TABLE w (a CHAR(10), b ENUM('x'))",
)  # fmt: skip

VERSIONED = (
    "CREATE TABLE v (id INT PRIMARY KEY, c1 INT WITHOUT SYSTEM VERSIONING) WITH SYSTEM VERSIONING",
    "ALTER TABLE v ADD c2 INT WITHOUT SYSTEM VERSIONING AFTER id, ADD c3 VARCHAR(9) WITH SYSTEM VERSIONING",
    "ALTER TABLE v DROP SYSTEM VERSIONING",
    "ALTER TABLE v ADD SYSTEM VERSIONING",
    "ALTER TABLE v ADD c4 INT WITHOUT SYSTEM VERSIONING, DROP PRIMARY KEY, ADD PRIMARY KEY (c1, id)",
)


@pytest.fixture
def schema(database: SqlServer, fresh_name: Callable[[str], str]) -> Iterator[str]:
    name = fresh_name("history")
    database.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
    yield name
    database.execute(f"DROP DATABASE {name}")


def catalogue(database: SqlServer, schema: str) -> dict[TableId, DescribedTable]:
    return {table: found for table, found in CatalogReader(source_settings(database)).snapshot().tables.items() if table.database == schema}


def alike(table: object) -> object:
    """Where a statement leaves it open whether a column holds NULL, both answers are right."""
    if not isinstance(table, DescribedTable):
        return table
    return replace(
        table, columns=tuple(replace(column, nullable=None if column.kind == "timestamp" else column.nullable) for column in table.columns)
    )


def follow(database: SqlServer, schema: str, sqls: list[str], schemas: Schemas) -> None:
    """Run each statement, follow what the server logged of it, and compare with the catalogue."""
    for sql in sqls:
        before = end_of(database)
        with database.connect(database=schema) as connection, connection.cursor() as cursor:
            if database.family == "mariadb":
                cursor.execute("SET SESSION system_versioning_alter_history = KEEP")
            try:
                cursor.execute(sql)
            except pymysql.err.MySQLError as refused:
                raise AssertionError(f"{sql}: {refused}") from refused
        for statement, _ in statements_between(source_settings(database), before, end_of_binlog(source_settings(database))):
            if statement.database == schema:
                schemas.apply(statement, classify(statement))
        followed = {table: known for table, known in schemas.tables.items() if table.database == schema}
        found = catalogue(database, schema)
        assert {table: alike(known) for table, known in followed.items()} == {table: alike(known) for table, known in found.items()}, sql


def columns_for(database: SqlServer) -> list[str]:
    return [f"c{number} {text.replace('{c}', f'c{number}')}" for number, text in enumerate((*TYPES["both"], *TYPES[database.family]), 1)]


def started(database: SqlServer, schema: str) -> Schemas:
    schemas = Schemas(mariadb=database.family == "mariadb", server_charset="utf8mb4")
    schemas.put_database(schema, "utf8mb4")
    return schemas


def test_what_create_and_alter_declare_is_what_the_catalogue_says(database: SqlServer, schema: str) -> None:
    columns = columns_for(database)
    # A column may be without the table's versions only where the table has them.
    adds = [f"ALTER TABLE b ADD COLUMN {column}" for column in columns if "SYSTEM VERSIONING" not in column]
    schemas = started(database, schema)
    follow(database, schema, [f"CREATE TABLE a (id INT PRIMARY KEY, {', '.join(columns)})", "CREATE TABLE b (c1 INT)", *adds[1:]], schemas)


def test_versions_of_rows_are_followed_as_mariadb_keeps_them(database: SqlServer, schema: str) -> None:
    if database.family != "mariadb":
        pytest.skip("tables of MariaDB")
    follow(database, schema, list(VERSIONED), started(database, schema))


def test_alter_is_followed_as_the_servers_apply_it(database: SqlServer, schema: str) -> None:
    created = f"CREATE TABLE t (id INT, {', '.join(f'c{number} INT' for number in range(1, 9))}, PRIMARY KEY (id), KEY i2 (c8))"
    follow(database, schema, [created, *(sql for sql in ALTERS)], started(database, schema))


def written(database: SqlServer, schema: str, *sqls: str) -> list[RawRows]:
    """Run the statements, and return the rows that they logged."""
    before = end_of(database)
    with database.connect(database=schema) as connection, connection.cursor() as cursor:
        for sql in sqls:
            cursor.execute(sql)
    rows = [item for item in read(source_settings(database), before, end_of(database)) if isinstance(item, RawRows)]
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
        # MariaDB does not log what is invisible, and the sign of a year means nothing; nobody asks for either.
        assert replace(mine, visible=theirs.visible, unsigned=theirs.unsigned if mine.type.name == "YEAR" else mine.unsigned) == theirs
    assert made.primary_key == whole.primary_key
    for column, known in zip(whole.columns, found.columns, strict=True):
        assert known.kind not in ("varchar", "varbinary") or type_text(column) == f"{known.kind}({known.measures[0]})", known.name


@pytest.mark.parametrize("logged", [Logged.MINIMAL, Logged.NOTHING])
def test_bare_table_maps_become_the_whole_ones(database: SqlServer, schema: str, logged: Logged) -> None:
    created = f"CREATE TABLE a (id INT, {', '.join(columns_for(database))}, PRIMARY KEY (c4, id))"
    for raw in written(database, schema, created, "INSERT INTO a (id, c4) VALUES (1, 1)"):
        assert_completed(raw, logged, catalogue(database, schema)[TableId(schema, "a")])


@pytest.mark.parametrize("logged", [Logged.MINIMAL, Logged.NOTHING])
def test_bare_table_maps_with_versions_become_the_whole_ones(database: SqlServer, schema: str, logged: Logged) -> None:
    if database.family != "mariadb":
        pytest.skip("tables of MariaDB")
    created = VERSIONED[0], "SET SESSION system_versioning_alter_history = KEEP", VERSIONED[1]
    for raw in written(database, schema, *created, "INSERT INTO v (id, c1) VALUES (1, 1)"):
        assert_completed(raw, logged, catalogue(database, schema)[TableId(schema, "v")])
