"""Keys from the history of tables equal those of the server's own row metadata: a lagging relay and
a live one key alike.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from random import Random

import pymysql
import pytest

from deploy.embedded import SqlServer
from relay.decode import RowDecoder, parse_table_map
from relay.encode import KeyEncoder, MessageFrame, RowEncoder
from relay.model.change import RawRows, RowsEvent, Statement
from relay.model.table import KeyKind, Logged, TableDefinition, TableId, TableMap
from relay.schema import CatalogReader, DescribedTable, FollowedTables, TableDefinitions, classify
from relay.schema.history import completed
from relay.schema.type_text import type_text
from relay.source import statements_between
from tests.support.rows.bare_maps import bare_map
from tests.support.sources.keyed_tables import changed, created
from tests.support.sources.source_reading import ask, end_of, read, source_settings

SEED = 4
TABLES = 8
CHANGES = 7
_FRAME = MessageFrame(event_time_ms=0, gtid="", batch=1, publish_time_ms=0)


@pytest.fixture
def schema(database: SqlServer, fresh_name: Callable[[str], str]) -> Iterator[str]:
    name = fresh_name("keys")
    database.execute(f"CREATE DATABASE {name} CHARACTER SET latin1")
    yield name
    database.execute(f"DROP DATABASE {name}")


def insert(table: str, number: int) -> str:
    return (
        f"INSERT INTO {table} VALUES ({number}, {number}, 'v{number}', 'c{number}', "
        f"'{'xy'[number % 2]}', {number}, 'w{number}', 's')"
    )


def run(database: SqlServer, schema: str, random: Random) -> None:
    """Make tables, change their keys, and write a row after each change.

    What the server refuses is not logged.
    """
    with database.connect(database=schema) as connection, connection.cursor() as cursor:
        for number in range(TABLES):
            table = f"t{number}"
            cursor.execute(created(random, table))
            for _ in range(CHANGES):
                with suppress(pymysql.err.MySQLError):
                    cursor.execute(f"DELETE FROM {table}")
                    cursor.execute(insert(table, random.randrange(100)))
                cursor.execute(f"SHOW INDEX FROM {table}")
                names = sorted({str(row[2]) for row in cursor.fetchall()} - {"PRIMARY"})
                with suppress(pymysql.err.MySQLError):
                    cursor.execute(changed(random, table, names))


def messages(
    event: RowsEvent, definition: TableDefinition, style: str
) -> list[tuple[bytes | None, bytes]]:
    name = event.table.id
    keys, rows = (
        KeyEncoder(definition, name),
        RowEncoder(definition, name, "canal" if style == "canal" else "exact"),
    )
    return [(keys.encode(change), rows.encode([change], _FRAME)) for change in event.rows]


class LateCatalog:
    """The catalogue of a relay that lags behind: every table is gone."""

    def read(self, table: TableId, *, keys: bool) -> None:
        """Describe nothing."""

    def versions(self, table: TableId) -> None:
        """Describe nothing."""


@pytest.mark.parametrize("logged", [Logged.MINIMAL, Logged.NOTHING])
def test_one_stream_has_the_same_messages_from_metadata_and_from_history(
    database: SqlServer, schema: str, logged: Logged
) -> None:
    start = end_of(database)
    run(database, schema, Random(SEED))
    schemas = FollowedTables(mariadb=database.family == "mariadb", server_charset="utf8mb4")
    schemas.put_database(schema, "latin1")
    definitions = TableDefinitions(type_text, LateCatalog())
    keys, unsure = [], 0
    for item in read(source_settings(database), start, end_of(database)):
        if isinstance(item, Statement):
            schemas.apply(item, classify(item))
        elif isinstance(item, RawRows):
            live = RowDecoder().decode(item)
            bare = parse_table_map(bare_map(item.table_map, logged), mariadb=item.mariadb)
            known = schemas.of(bare.id)
            assert isinstance(known, DescribedTable), known
            made = completed(bare, known)
            assert isinstance(made, TableMap), made
            if made.key_kind is KeyKind.UNKNOWN:
                unsure += 1
                continue
            assert made.primary_key == live.table.primary_key, known
            lagging = RowsEvent(
                live.operation, made, live.rows, live.header_time_s, live.position, 1
            )
            assert messages(live, definitions.define(live.table), "exact") == messages(
                lagging, definitions.define(made), "exact"
            )
            keys.append((made.key_kind, bool(made.primary_key)))
    assert {
        (KeyKind.PRIMARY, True),
        (KeyKind.NOT_PRIMARY, True),
        (KeyKind.NOT_PRIMARY, False),
    } <= set(keys)
    assert unsure < len(keys)


@pytest.mark.parametrize("tables", [3, pytest.param(TABLES, marks=pytest.mark.long)])
def test_followed_indexes_are_those_of_the_catalogue(
    database: SqlServer, schema: str, tables: int
) -> None:
    random, schemas = (
        Random(SEED + 1),
        FollowedTables(mariadb=database.family == "mariadb", server_charset="utf8mb4"),
    )
    schemas.put_database(schema, "latin1")
    settings = source_settings(database)
    for number in range(tables):
        before, table = end_of(database), TableId(schema, f"t{number}")
        statements = [created(random, f"{schema}.{table.table}")]
        for _ in range(2 * CHANGES):
            with suppress(pymysql.err.MySQLError):
                database.execute(statements[-1])
            for statement, _, _ in statements_between(settings, before, before := end_of(database)):
                schemas.apply(statement, classify(statement))
            found = CatalogReader(settings).snapshot([table]).tables[table]
            followed = schemas.of(table)
            assert isinstance(followed, DescribedTable)
            statements.append(
                changed(random, str(table), [index.name for index in found.indexes or ()])
            )
            if followed.indexes is None and database.family == "mariadb":
                schemas.put(table, found)
                continue
            assert followed == found, (
                f"{statements}\nfollowed {followed.indexes}\nfound    {found.indexes}"
            )


KEYED = {
    "unique": ("id INT NOT NULL, n INT, UNIQUE (id)", False),
    "primary": ("id INT NOT NULL, n INT, PRIMARY KEY (id)", True),
    "both": ("n INT, id INT NOT NULL PRIMARY KEY, u INT NOT NULL UNIQUE", True),
    "neither": ("id INT NOT NULL, n INT", False),
}


def test_canal_style_keys_by_a_real_primary_key_alone(database: SqlServer, schema: str) -> None:
    start = end_of(database)
    with database.connect(database=schema) as connection, connection.cursor() as cursor:
        for name, (columns, _) in KEYED.items():
            cursor.execute(f"CREATE TABLE `{name}` ({columns})")
            cursor.execute(
                f"INSERT INTO `{name}` (id, n{', u' if name == 'both' else ''}) VALUES (1, "
                f"2{', 3' if name == 'both' else ''})"
            )
    events = [
        RowDecoder().decode(item)
        for item in read(source_settings(database), start, end_of(database))
        if isinstance(item, RawRows)
    ]
    with closing(CatalogReader(source_settings(database))) as catalog:
        for event in events:
            definition = TableDefinitions(type_text, catalog, as_declared=True).define(event.table)
            ((key, value),) = messages(event, definition, "canal")
            primary = KEYED[event.table.id.table][1]
            assert (key is not None) == primary, event.table.id
            assert (b'"pkNames":["id"]' if primary else b'"pkNames":null') in value, event.table.id
    assert len(events) == len(KEYED)
    assert ask(database, "SELECT @@binlog_row_metadata")[0][0] == "FULL"
