"""Converts rows of a SELECT to row images, so that the compiled printer of row events prints a
chunk at once.
"""

from typing import Final

from relay.compiled import COMPILED, Kind
from relay.model.column_families import INTEGERS
from relay.model.table import Column, ColumnType
from relay.pipeline.messages.printing.printer_columns import measures_of
from relay.schema import CopiedTable
from relay.schema.copied.value_readers import PLAIN_READERS, unpadded

if COMPILED:
    from relay.compiled.chunk_images import ImageWriter

_T: Final = ColumnType
_KINDS: Final = {
    _T.FLOAT: Kind.FLOAT, _T.DOUBLE: Kind.DOUBLE, _T.NEWDECIMAL: Kind.DECIMAL, _T.DATE: Kind.DATE,
    _T.DATETIME2: Kind.DATETIME, _T.TIMESTAMP2: Kind.TIMESTAMP, _T.TIME2: Kind.TIME,
    _T.YEAR: Kind.YEAR, _T.BIT: Kind.BIT, _T.ENUM: Kind.ENUM, _T.SET: Kind.SET,
    **dict.fromkeys((_T.VARCHAR, _T.STRING, _T.BLOB, _T.GEOMETRY, _T.VECTOR), Kind.UTF8),
}  # fmt: skip


def image_writer(table: CopiedTable) -> "ImageWriter | None":
    """Return the writer of a table's row images.

    None without compiled code, or if the table has a column that cannot be converted.
    """
    measures = measures_of(table.map)
    if not COMPILED or not measures or not set(table.readers) <= PLAIN_READERS:
        return None
    plans = []
    for column, measure in zip(table.map.columns, measures, strict=True):
        kind = _kind(column)
        if kind is None:
            return None
        plans.append(measure._replace(kind=kind, digits=column.length, scale=column.scale))
    return ImageWriter(plans, [reader is unpadded for reader in table.readers])


def _kind(column: Column) -> Kind | None:
    if column.type in INTEGERS:
        return Kind.UNSIGNED if column.unsigned else Kind.SIGNED
    return _KINDS.get(column.type)
