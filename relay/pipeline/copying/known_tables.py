"""Finds the tables of a source that a copy request selects, and those that cannot be copied."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from relay.errors import SnapshotRefused
from relay.model.records.snapshot_progress import MOST_TABLES, SnapshotProgress, mark
from relay.model.table import TableId
from relay.route import Dropped, Router, TableFilter
from relay.source import ChunkConnection

_TABLES: Final = (
    "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE, TABLE_ROWS FROM "
    "information_schema.TABLES WHERE TABLE_SCHEMA NOT IN ('mysql', 'information_schema', "
    "'performance_schema', 'sys') AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED')"
)
_WITH_SNAPSHOTS: Final = frozenset({"INNODB", "ROCKSDB"})


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A real table of the source.

    id         its name
    versioned  True: the table is system-versioned
    engine     its storage engine
    rows       its number of rows, as the source server estimates it
    """

    id: TableId
    versioned: bool
    engine: str
    rows: int

    def check(self) -> None:
        """Raise SnapshotRefused if the table cannot be copied: it is system-versioned, or its
        storage engine cannot give a consistent snapshot.
        """
        if self.versioned:
            raise SnapshotRefused(
                f"{self.id} keeps versions of its rows, and a SELECT does not show their history.",
                remedy="Copy this table with Spark.",
            )
        if self.engine.upper() not in _WITH_SNAPSHOTS:
            raise SnapshotRefused(
                f"{self.id} uses {self.engine or 'an unknown storage engine'}, which "
                "has no consistent snapshot.",
                remedy="Convert it to InnoDB, or copy it with Spark while no client writes.",
            )


def tables_of_source(connection: ChunkConnection) -> list[KnownTable]:
    """Return all tables that the relay's account may see, sorted by name. Raises Unreachable."""
    found = [
        KnownTable(
            TableId(str(database), str(table)),
            str(kind) == "SYSTEM VERSIONED",
            str(engine or ""),
            int(str(rows or 0)),
        )
        for database, table, kind, engine, rows in connection.rows(_TABLES)
    ]
    return sorted(found, key=lambda each: str(each.id))


def meant(
    tables: Iterable[KnownTable], names: Sequence[str], router: Router, accepted: TableFilter
) -> list[KnownTable]:
    """Return the tables that a request selects: those that the instance publishes, and whose
    logical name matches one of the patterns `names`.

    tables    all tables of the source
    names     the patterns
    router    gives the logical name
    accepted  the instance's filter

    Raises UnmappedName.
    """
    return [each for each in tables if _is_meant(each.id, names, router, accepted)]


def refusals_of(tables: Iterable[KnownTable]) -> dict[str, SnapshotRefused]:
    """Return a mapping from the name of each table that cannot be copied to the error of its
    `check`.
    """
    found: dict[str, SnapshotRefused] = {}
    for each in tables:
        try:
            each.check()
        except SnapshotRefused as refused:
            found[str(each.id)] = refused
    return found


def _is_meant(table: TableId, names: Sequence[str], router: Router, accepted: TableFilter) -> bool:
    if not accepted.accepts(table):
        return False
    destination = router.route(table)
    return not isinstance(destination, Dropped) and any(
        fnmatchcase(str(destination.logical), name) for name in names
    )


def left_of(tables: Iterable[KnownTable], progress: SnapshotProgress) -> list[KnownTable]:
    """Return the tables of a request whose copy is not finished. A table whose copy has begun comes
    first.

    A table that was created or renamed meanwhile is included.
    """
    finished = frozenset(progress.finished)
    left = [each for each in tables if mark(str(each.id)) not in finished]
    return sorted(left, key=lambda each: str(each.id) != progress.table)


def check_number(tables: Sequence[KnownTable], progress: SnapshotProgress) -> None:
    """Raise SnapshotRefused if the request selects more tables than a position record can name
    (MOST_TABLES).
    """
    number = len({*progress.finished, *(mark(str(each.id)) for each in tables)})
    if number > MOST_TABLES:
        raise SnapshotRefused(
            f"The request matches {number} tables; one request may match at most {MOST_TABLES}.",
            remedy="Send several requests, each for some of the tables.",
        )
