"""Derives from a described table how its rows are read by SELECT.

The result has the table map of its row events, the SQL of its columns, and the key by which the
rows are ordered.

Source of the lengths: the metadata that each type writes (mysql-server and MariaDB:
Field::do_save_field_metadata).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from relay.errors import SnapshotRefused
from relay.model.change import RowChange
from relay.model.column_families import BYTES_OF_NAMED, GEOMETRIES
from relay.model.source_rows.columns import APPROXIMATE, SourceColumn
from relay.model.table import Column, ColumnType, Logged, TableId, TableMap
from relay.model.value import Value
from relay.schema.copied.value_readers import ReadValue, column_sql, value_reader
from relay.schema.history.column_words import LONGEST_CHARACTER
from relay.schema.history.described import DescribedColumn, DescribedTable
from relay.schema.history.fitting import completed

_T: Final = ColumnType
_TYPES: Final = {
    "tinyint": _T.TINY, "smallint": _T.SHORT, "mediumint": _T.INT24, "int": _T.LONG,
    "bigint": _T.LONGLONG, "float": _T.FLOAT, "double": _T.DOUBLE, "decimal": _T.NEWDECIMAL,
    "date": _T.DATE, "time": _T.TIME2, "datetime": _T.DATETIME2, "timestamp": _T.TIMESTAMP2,
    "year": _T.YEAR, "char": _T.STRING, "binary": _T.STRING, "varchar": _T.VARCHAR,
    "varbinary": _T.VARCHAR, "json": _T.JSON, "enum": _T.ENUM, "set": _T.SET, "bit": _T.BIT,
    "vector": _T.VECTOR, **dict.fromkeys(BYTES_OF_NAMED, _T.STRING),
    **dict.fromkeys(("tinytext", "text", "mediumtext", "longtext"), _T.BLOB),
    **dict.fromkeys(("tinyblob", "blob", "mediumblob", "longblob"), _T.BLOB),
    **dict.fromkeys(GEOMETRIES, _T.GEOMETRY),
}  # fmt: skip
_BLOB_LENGTHS: Final = {"tiny": 1, "": 2, "medium": 3, "long": 4}
_FIXED_LENGTHS: Final = {
    "float": 4, "double": 8, "json": 4, "vector": 4, **BYTES_OF_NAMED,
    **dict.fromkeys(GEOMETRIES, 4),
}  # fmt: skip
_MEASURED: Final = frozenset({"binary", "varbinary", "bit", "time", "datetime", "timestamp"})
"""Kinds of columns whose declared length is stored unchanged in table maps."""
_NOT_ALONG: Final = APPROXIMATE | frozenset(
    {"tinytext", "text", "mediumtext", "longtext", "tinyblob", "blob", "mediumblob", "longblob"}
)
"""Kinds of key columns along which rows cannot be read: their texts or their order do not identify
one row.
"""


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """How the rows of one table are read by SELECT.

    map       the table map of the table's row events
    columns   SQL of each column
    readers   decoder of each column's result
    key       columns of the key along which rows are read
    ordinals  ordinals of the key's columns
    facts     (name, type, collation) of each column when the table was described
    """

    map: TableMap
    columns: tuple[str, ...]
    readers: tuple[ReadValue, ...]
    key: tuple[SourceColumn, ...]
    ordinals: tuple[int, ...]
    facts: tuple[tuple[str, str, str], ...] = ()

    @property
    def key_names(self) -> tuple[str, ...]:
        """The names of the key's columns in key order."""
        return tuple(column.name for column in self.key)

    @property
    def key_types(self) -> tuple[str, ...]:
        """Type and collation of each key column as text, to detect a change of the key."""
        return tuple(f"{column.type_text} {column.collation}".rstrip() for column in self.key)

    def key_values(self, cells: Sequence[bytes | None]) -> tuple[Value, ...]:
        """Return the decoded values of the key in key order. `cells` are the result of a SELECT for
        one row.
        """
        return tuple(
            None if (cell := cells[at]) is None else self.readers[at](cell) for at in self.ordinals
        )

    def row(self, cells: Sequence[bytes | None]) -> RowChange:
        """Return a row as an insert. `cells` are the result of a SELECT for one row."""
        return RowChange(
            None,
            tuple(
                None if cell is None else read(cell)
                for read, cell in zip(self.readers, cells, strict=True)
            ),
        )


def copied_table(table: TableId, described: DescribedTable, *, mariadb: bool) -> CopiedTable:
    """Return how the rows of a table are read by SELECT. Raises SnapshotRefused if they cannot be
    read.
    """
    whole = described_map(table, described, mariadb=mariadb)
    ordinals = whole.primary_key
    if not ordinals:
        raise SnapshotRefused(
            f"{table} has neither a PRIMARY KEY nor a unique key without NULL, so it cannot be "
            "read in chunks.",
            remedy="Add such a key, for example over an invisible column, or copy the table with "
            "Spark.",
        )
    key = tuple(_key_column(described.columns[ordinal]) for ordinal in ordinals)
    for column in key:
        if column.kind in _NOT_ALONG:
            raise SnapshotRefused(
                f"{table} cannot be read along its key: {column.name} is of type {column.kind}.",
                remedy="Copy this table with Spark.",
            )
    columns = described.columns
    return CopiedTable(
        whole,
        tuple(map(column_sql, columns)),
        tuple(map(value_reader, columns)),
        key,
        ordinals,
    )


def described_map(table: TableId, described: DescribedTable, *, mariadb: bool) -> TableMap:
    """Return the table map of a described table's row events.

    Raises SnapshotRefused for a column of an unknown type.
    """
    bare = TableMap(
        table,
        tuple(_bare(table, column, mariadb=mariadb) for column in described.columns),
        logged=Logged.NOTHING,
    )
    whole = completed(bare, described)
    if isinstance(whole, str):
        raise SnapshotRefused(f"The rows of {table} cannot be read by SELECT: {whole}.")
    return whole


def _key_column(column: DescribedColumn) -> SourceColumn:
    return SourceColumn(column.name, column.kind, column.kind)


def _bare(table: TableId, column: DescribedColumn, *, mariadb: bool) -> Column:
    """Return a column as a table map without row metadata describes it."""
    kind = _TYPES.get(column.kind)
    if kind is None:
        raise SnapshotRefused(
            f"Column {column.name} of {table} is of type {column.kind or 'unknown'}, which is not "
            "read by SELECT.",
            remedy="Copy this table with Spark, or leave it out of the request.",
        )
    length, scale = _measures(column)
    if column.kind == "vector" and mariadb:
        kind, length = _T.VARCHAR, 4 * column.measures[0] if column.measures else 0
    if column.compressed:
        kind = _T.BLOB_COMPRESSED if kind is _T.BLOB else _T.VARCHAR_COMPRESSED
        length += kind is _T.VARCHAR_COMPRESSED
    return Column("", kind, column.nullable is not False, length, scale)


def _measures(column: DescribedColumn) -> tuple[int, int]:
    """Return (length, scale) of a column as table maps have them."""
    kind, first = column.kind, column.measures[0] if column.measures else 0
    if kind == "decimal":
        return first, column.measures[1]
    if kind in ("char", "varchar"):
        return first * LONGEST_CHARACTER.get(column.charset or "", 1), 0
    if kind.endswith(("text", "blob")):
        return _BLOB_LENGTHS[kind.removesuffix("text").removesuffix("blob")], 0
    if kind == "enum":
        return 1 if len(column.labels) < 1 << 8 else 2, 0
    if kind == "set":
        octets = (len(column.labels) + 7) // 8
        return octets if octets <= 4 else 8, 0
    if kind in _FIXED_LENGTHS:
        return _FIXED_LENGTHS[kind], 0
    return (first, 0) if kind in _MEASURED else (0, 0)
