"""Groups of column types that several packages treat alike."""

from typing import Final

from relay.model.table import ColumnType

BYTES_OF_INTEGERS: Final = {
    ColumnType.TINY: 1,
    ColumnType.SHORT: 2,
    ColumnType.INT24: 3,
    ColumnType.LONG: 4,
    ColumnType.LONGLONG: 8,
}
INTEGERS: Final = frozenset(BYTES_OF_INTEGERS)
DECIMALS: Final = frozenset({ColumnType.DECIMAL, ColumnType.NEWDECIMAL})
FLOATS: Final = frozenset({ColumnType.FLOAT, ColumnType.DOUBLE})
BLOBS: Final = frozenset(
    {
        ColumnType.TINY_BLOB,
        ColumnType.BLOB,
        ColumnType.MEDIUM_BLOB,
        ColumnType.LONG_BLOB,
        ColumnType.BLOB_COMPRESSED,
    }
)
VARCHARS: Final = frozenset(
    {ColumnType.VARCHAR, ColumnType.VAR_STRING, ColumnType.VARCHAR_COMPRESSED}
)
STRINGS: Final = BLOBS | VARCHARS | {ColumnType.STRING}
LABELLED: Final = frozenset({ColumnType.ENUM, ColumnType.SET})
DATES: Final = frozenset({ColumnType.DATE, ColumnType.NEWDATE})
DATETIMES: Final = frozenset(
    {ColumnType.DATETIME, ColumnType.DATETIME2, ColumnType.TIMESTAMP, ColumnType.TIMESTAMP2}
)
TIMES: Final = frozenset({ColumnType.TIME, ColumnType.TIME2})
GEOMETRIES: Final = (
    "geometry",
    "point",
    "linestring",
    "polygon",
    "multipoint",
    "multilinestring",
    "multipolygon",
    "geomcollection",
)
"""Names of the geometry types. The index of a name is its number in table maps."""

BYTES_OF_NAMED: Final = {"uuid": 16, "inet6": 16, "inet4": 4}
"""MariaDB's types whose rows are a BINARY of this many bytes; only the type name distinguishes
them.
"""
