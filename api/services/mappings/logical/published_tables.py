"""The logical tables that instances publish, computed from the real tables that they have read."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from api.services.mappings.logical.met_tables import MetTables
from api.services.mappings.routers import Routers, Routing
from relay.errors import UnmappedName
from relay.model.table import TableId
from relay.route import MappingSet, Router, TableFilter

Reals: TypeAlias = Mapping[str, Sequence[str]]
"""Logical table → the names of its real tables within one real database."""
Published: TypeAlias = Mapping[str, tuple[str, Reals]]
"""Real database → its logical database and its tables. A database without published tables is
omitted.
"""


class PublishedTables:
    """Computes the tables that instances publish under one mapping set.

    Databases with the same tables share one result. Shards differ only in the name of the database,
    which is compared with the expressions of the set once.
    """

    def __init__(self, mapping: MappingSet) -> None:
        self._mapping = mapping
        self._routers = Routers()
        self._databases: dict[str, str | None] = {}
        self._answers: dict[tuple[object, ...], Reals] = {}
        self._logical: dict[tuple[object, ...], dict[str, str | None]] = {}

    def of(self, instance: Routing, met: MetTables) -> Published:
        """Return the tables in `met` that an instance with these routing settings publishes."""
        table_filter = self._routers.filter(instance)
        found: dict[str, tuple[str, Reals]] = {}
        for database, tables in met.items():
            logical = self._logical_database(database)
            if logical is None:
                continue
            accepted = _accepted(table_filter, database, tables)
            if reals := self._reals(instance, logical, database, accepted):
                found[database] = (logical, reals)
        return found

    def _logical_database(self, real: str) -> str | None:
        if real not in self._databases:
            self._databases[real] = _claimed(lambda: self._mapping.logical_database(real))
        return self._databases[real]

    def _reals(
        self, instance: Routing, logical: str, database: str, tables: tuple[str, ...]
    ) -> Reals:
        alike = database if self._mapping.names_databases_of_tables else ""
        place = (logical, alike, instance.routing)
        found = self._answers.get((*place, tables))
        if found is None:
            names = self._logical.setdefault(place, {})
            router = self._routers.router(self._mapping, instance)
            found = self._answers[(*place, tables)] = _by_logical(
                names, router, logical, database, tables
            )
        return found


def _accepted(names: TableFilter, database: str, tables: tuple[str, ...]) -> tuple[str, ...]:
    if names.accepts_all_of(database):
        return tables
    return tuple(each for each in tables if names.accepts(TableId(database, each)))


def _by_logical(
    names: dict[str, str | None],
    router: Router,
    logical: str,
    database: str,
    tables: Sequence[str],
) -> Reals:
    found: dict[str, list[str]] = {}
    for table in tables:
        if table not in names:
            names[table] = _logical_table(router, logical, TableId(database, table))
        name = names[table]
        if name is not None:
            found.setdefault(name, []).append(table)
    return found


def _logical_table(router: Router, logical: str, real: TableId) -> str | None:
    """Return the logical name of a table that is published, None for every other one."""
    if router.destination(real) is None:
        return None
    return router.mapping.logical_table(real, logical) or real.table


def _claimed(ask: Callable[[], str | None]) -> str | None:
    try:
        return ask()
    except UnmappedName:
        return None
