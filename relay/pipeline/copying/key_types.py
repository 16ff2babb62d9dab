"""The types and collations of a table's columns.

Its description and its last key are valid only for the same ones.
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
    """A chunk was read while its table had other columns than its description."""

    @property
    def reason(self) -> str:
        """Return a sentence for operators."""
        return "the columns of the table changed while it was read."


def column_facts(table: TableId, connection: ChunkConnection) -> ColumnFacts:
    """Return the columns of a table as the catalogue has them now. Raises Unreachable."""
    return tuple(
        (str(name), str(kind), str(collation or ""))
        for name, kind, collation in connection.rows(_COLUMNS, *table)
    )


def with_key_types(table: CopiedTable, facts: ColumnFacts) -> CopiedTable | None:
    """Return the table with its facts: the whole type and the collation of each key column.

    None if a column of the key is not among them.
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
    """Return whether the catalogue still describes the columns that a chunk was read by.

    MariaDB shows an ALTER to SELECTs before it is in the binlog. The chunk is then complete before
    the statement, although its order and its values are those of the changed columns.
    """
    return column_facts(table.map.id, connection) == table.facts


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
    """Return how a table is read, None if it is gone. Raises SnapshotRefused, Unreachable.

    The facts are read first: a statement after them is found when they are compared.
    """
    mariadb = connection.server().mariadb
    facts = column_facts(table.id, connection)
    found = CatalogReader(source).snapshot((table.id,)).tables.get(table.id)
    if found is None:
        return None
    return with_key_types(copied_table(table.id, found, mariadb=mariadb), facts)
