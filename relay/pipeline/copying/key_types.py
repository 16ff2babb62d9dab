"""The types and collations of a table's key: the last key is valid only for the same ones."""

from dataclasses import replace
from typing import Final

from relay.model.records.snapshot_progress import SnapshotProgress
from relay.pipeline.copying.known_tables import KnownTable
from relay.schema import CatalogReader, CopiedTable, copied_table
from relay.settings import SourceSettings
from relay.source import ChunkConnection

_KEY_TYPES: Final = (
    "SELECT COLUMN_NAME, COLUMN_TYPE, COLLATION_NAME FROM information_schema.COLUMNS "
    "WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s"
)


def with_key_types(table: CopiedTable, connection: ChunkConnection) -> CopiedTable | None:
    """Return the table with the whole type and the collation of each key column.

    None if a column of the key is gone meanwhile. Raises Unreachable.
    """
    found = {
        str(name).lower(): (str(kind), str(collation or ""))
        for name, kind, collation in connection.rows(_KEY_TYPES, *table.map.id)
    }
    if any(name.lower() not in found for name in table.key_names):
        return None
    key = []
    for column in table.key:
        kind, collation = found[column.name.lower()]
        key.append(replace(column, type_text=kind, collation=collation))
    return replace(table, key=tuple(key))


def reads_on(progress: SnapshotProgress, table: CopiedTable) -> bool:
    """Whether the next chunk may begin after the last key: it has the same order and texts.

    With another type the text of a key is another value. With another collation the set of rows
    already read differs.
    """
    read_by = (progress.key, progress.key_types)
    return not progress.after or read_by == (table.key_names, table.key_types)


def described(
    source: SourceSettings, table: KnownTable, connection: ChunkConnection
) -> CopiedTable | None:
    """Return how a table is read, None if it is gone. Raises SnapshotRefused, Unreachable."""
    mariadb = connection.server().mariadb
    found = CatalogReader(source).snapshot((table.id,)).tables.get(table.id)
    if found is None:
        return None
    return with_key_types(copied_table(table.id, found, mariadb=mariadb), connection)
