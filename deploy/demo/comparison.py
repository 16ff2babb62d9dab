"""Compares the rows of the shards with the rows of the copy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from deploy.demo.mapping import LOGICAL_DATABASE, LOGICAL_TABLES, SHARDS
from deploy.embedded import SqlServer

TextRow: TypeAlias = "Mapping[str, str | None]"


@dataclass(frozen=True, slots=True)
class TableComparison:
    """The result for a logical table. `differing`: ids of differing or missing rows."""

    table: str
    source_rows: int
    copy_rows: int
    differing: tuple[str, ...]

    @property
    def equal(self) -> bool:
        """Return True if source and copy have the same rows and the same number of rows."""
        return not self.differing and self.source_rows == self.copy_rows


def compare(table: str, source: Sequence[TextRow], copy: Sequence[TextRow]) -> TableComparison:
    """Compare all columns of rows with the same `id`. A missing column is null."""
    left, right = _by_key(source), _by_key(copy)
    differing = sorted(key for key in left.keys() | right.keys() if left.get(key) != right.get(key))
    return TableComparison(table, len(source), len(copy), tuple(differing))


def source_rows(database: SqlServer) -> Mapping[str, list[TextRow]]:
    """Return the rows of all shards by logical table; every value is the text that the server
    prints.
    """
    return {
        f"{LOGICAL_DATABASE}.{logical}": [
            row
            for shard, table in zip(SHARDS, tables, strict=True)
            for row in _rows_as_text(database, shard, table)
        ]
        for logical, tables in LOGICAL_TABLES.items()
    }


def _rows_as_text(database: SqlServer, shard: str, table: str) -> list[TextRow]:
    with database.connect(database=shard) as connection, connection.cursor() as cursor:
        cursor.execute(f"SHOW COLUMNS FROM {table}")
        names = [str(row[0]) for row in cursor.fetchall()]
        cursor.execute(
            f"SELECT {', '.join(f'CAST({name} AS CHAR)' for name in names)} FROM {table}"
        )
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _by_key(rows: Sequence[TextRow]) -> dict[str, TextRow]:
    return {
        str(row["id"]): {name: value for name, value in row.items() if value is not None}
        for row in rows
    }
