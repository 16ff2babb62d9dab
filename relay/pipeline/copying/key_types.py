"""Checks the types and collations of a copied table's columns, which must not change while the
table is copied.

If they change, the description of the table and the key of the last copied row are no longer valid.
"""

from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from relay.model.records.snapshot_progress import SnapshotProgress
from relay.model.table import TableId
from relay.pipeline.copying.known_tables import KnownTable
from relay.schema import CatalogReader, CopiedTable, copied_table
from relay.settings import SourceSettings
from relay.source import ChunkConnection

_COLUMNS: Final = (
    "SELECT COLUMN_NAME, COLUMN_TYPE, COLLATION_NAME FROM information_schema.COLUMNS "
    "WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s ORDER BY ORDINAL_POSITION"
)
ColumnFacts: TypeAlias = tuple[tuple[str, str, str], ...]
"""Name, type and collation of each column of a table."""


@dataclass(frozen=True, slots=True)
class TableChanged:
    """The result of a read during which the columns of the table changed; the chunk is not used."""

    @property
    def reason(self) -> str:
        """A sentence for operators."""
        return "the columns of the table changed while it was read."


def column_facts(table: TableId, connection: ChunkConnection) -> ColumnFacts:
    """Return the columns of a table as the catalogue has them now. Raises Unreachable."""
    return tuple(
        (str(name), str(kind), str(collation or ""))
        for name, kind, collation in connection.rows(_COLUMNS, *table)
    )


def with_key_types(table: CopiedTable, facts: ColumnFacts) -> CopiedTable | None:
    """Return the table with the type and collation of each key column, taken from `facts`.

    None if `facts` lacks a column of the key.
    """
    found = {name.lower(): (kind, collation) for name, kind, collation in facts}
    if any(name.lower() not in found for name in table.key_names):
        return None
    key = []
    for column in table.key:
        kind, collation = found[column.name.lower()]
        key.append(replace(column, type_text=kind, collation=collation))
    return replace(table, key=tuple(key), facts=facts)


def read_by_these(table: CopiedTable, connection: ChunkConnection) -> bool:
    """Return whether the columns in the catalogue are still those in the description `table`.

    If not, a chunk that was just read is not usable. MariaDB shows an ALTER to SELECTs before it is
    in the binlog, so the chunk then already has the order and values of the new columns.
    """
    return column_facts(table.map.id, connection) == table.facts


def reads_on(progress: SnapshotProgress, table: CopiedTable) -> bool:
    """Return whether the copy may continue after its last copied key: the key columns and their
    types are unchanged.

    After a change of the type, the text of the last key may mean another value. After a change of
    the collation, other rows precede this key.
    """
    read_by = (progress.key, progress.key_types)
    return not progress.after or read_by == (table.key_names, table.key_types)


def described(
    source: SourceSettings, table: KnownTable, connection: ChunkConnection
) -> CopiedTable | None:
    """Return a description of the table for its copy; None if the table no longer exists.

    source      the settings of the source
    table       the table
    connection  the connection to the source

    The types of the columns are read before the description. If a statement changes the table
    between the two reads, a later comparison of the types with the description finds the
    difference. Raises SnapshotRefused, Unreachable.
    """
    mariadb = connection.server().mariadb
    facts = column_facts(table.id, connection)
    found = CatalogReader(source).snapshot((table.id,)).tables.get(table.id)
    if found is None:
        return None
    return with_key_types(copied_table(table.id, found, mariadb=mariadb), facts)
