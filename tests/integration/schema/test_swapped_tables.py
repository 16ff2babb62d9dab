"""Whole tables that change their names by RENAME while the catalogue is read: no creation time and
no column tells it, only the binlog does.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import closing

import pytest

from deploy.embedded import SqlServer
from relay.errors import SourceUnreachable
from relay.model.positions.position import SourcePosition
from relay.model.table import TableId
from relay.pipeline.ingest.names.schema_bootstrap import NamesOpening
from relay.schema import CatalogReader, CatalogSnapshot, DescribedTable, FollowedTables
from relay.settings import SourceSettings
from relay.source import open_source
from tests.servers.fixtures import FreshName
from tests.support.sources.source_reading import at, end_of, source_settings


class DisturbedCatalog(CatalogReader):
    """A catalogue that is read while tables are changed. `disturb` gets the number of the answer:
    it changes them, and returns how they are changed back after the answer.
    """

    def __init__(
        self, settings: SourceSettings, disturb: Callable[[int], Callable[[], None]]
    ) -> None:
        super().__init__(settings)
        self._disturb = disturb
        self.asked: list[Collection[TableId]] = []

    def snapshot(self, tables: Collection[TableId] = ()) -> CatalogSnapshot:
        undo = self._disturb(len(self.asked))
        self.asked.append(tables)
        found = super().snapshot(tables)
        undo()
        return found


@pytest.fixture
def schema(database: SqlServer, fresh_name: FreshName) -> Iterator[str]:
    name = fresh_name("swapped")
    database.execute(
        f"CREATE DATABASE {name}",
        f"CREATE TABLE {name}.a (id INT PRIMARY KEY, x INT, y INT)",
        f"CREATE TABLE {name}.b (id INT PRIMARY KEY, y INT, x INT)",
        f"CREATE TABLE {name}.c (id INT PRIMARY KEY, p INT, q INT)",
    )
    yield name
    database.execute(f"DROP DATABASE {name}")


def swap(database: SqlServer, schema: str) -> None:
    a, b, t = (f"{schema}.{each}" for each in ("a", "b", "t"))
    database.execute(f"RENAME TABLE {a} TO {t}, {b} TO {a}, {t} TO {b}")


def position(database: SqlServer, settings: SourceSettings) -> SourcePosition:
    with closing(open_source(settings, None, at(end_of(database)), excluded=())) as stream:
        return stream.start


def opened(
    database: SqlServer, disturb: Callable[[int], Callable[[], None]]
) -> tuple[FollowedTables, DisturbedCatalog]:
    """Return what a relay takes the tables for where it begins to read."""
    settings = source_settings(database)
    start = position(database, settings)
    schemas = FollowedTables(mariadb=database.family == "mariadb")
    with closing(DisturbedCatalog(settings, disturb)) as catalog:
        NamesOpening(settings, catalog, schemas, start).anew()
        return schemas, catalog


def columns(schemas: FollowedTables, schema: str, table: str) -> list[str] | str:
    known = schemas.of(TableId(schema, table))
    if isinstance(known, DescribedTable):
        return [column.name for column in known.columns]
    return known or "unknown"


def test_two_swaps_within_one_look_are_noticed(database: SqlServer, schema: str) -> None:
    """The catalogue shows the same before and after, and something else between."""

    def disturb(answer: int) -> Callable[[], None]:
        if answer:
            return lambda: None
        swap(database, schema)
        return lambda: swap(database, schema)

    schemas, catalog = opened(database, disturb)
    # They were changed after the start: the stream tells what they were before.
    assert "was changed at" in columns(schemas, schema, "a")
    assert {each.table for each in catalog.asked[1]} == {"a", "b", "t"}
    assert columns(schemas, schema, "c") == ["id", "p", "q"]


def test_the_definition_after_the_last_change_is_that_of_a_quiet_look(
    database: SqlServer, schema: str
) -> None:
    """Another table is altered between the first look and the second one, which asks for the
    changed tables alone.
    """

    def disturb(answer: int) -> Callable[[], None]:
        if answer > 1:
            return lambda: None
        if answer:
            database.execute(f"ALTER TABLE {schema}.c ADD r INT FIRST")
            return lambda: None
        swap(database, schema)
        return lambda: swap(database, schema)

    settings = source_settings(database)
    start = position(database, settings)
    schemas = FollowedTables(mariadb=database.family == "mariadb")
    with closing(DisturbedCatalog(settings, disturb)) as catalog:
        opening = NamesOpening(settings, catalog, schemas, start)
        found, changes = opening._described(())  # noqa: SLF001 - what both ways of opening ask
    described = {
        table: [column.name for column in found.tables[TableId(schema, table)].columns]
        for table in "abc"
    }
    assert described == {"a": ["id", "x", "y"], "b": ["id", "y", "x"], "c": ["r", "id", "p", "q"]}
    assert {each.table for each in changes.tables if each.database == schema} == {*"abct"}


def test_a_table_that_is_swapped_in_each_look_is_never_guessed(
    database: SqlServer, schema: str
) -> None:
    def disturb(_: int) -> Callable[[], None]:
        swap(database, schema)
        return lambda: swap(database, schema)

    with pytest.raises(SourceUnreachable, match=rf"{schema}\.a, {schema}\.b.* changed each time"):
        opened(database, disturb)


def test_a_database_that_changes_its_character_set_lends_none_to_earlier_tables(
    database: SqlServer, schema: str
) -> None:
    """A table that was made before the change, and read before it was altered last."""
    settings = source_settings(database)
    database.execute(f"ALTER DATABASE {schema} CHARACTER SET latin1")
    start = position(database, settings)
    database.execute(f"ALTER DATABASE {schema} CHARACTER SET utf8mb4")
    schemas = FollowedTables(mariadb=database.family == "mariadb")
    with closing(CatalogReader(settings)) as catalog:
        NamesOpening(settings, catalog, schemas, start).anew()
    assert schema not in schemas.databases
