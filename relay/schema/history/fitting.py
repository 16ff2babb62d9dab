"""Compares a table map without names with the known description of its table, and combines both
into a table map with names.

Source of the expected values: the metadata that each type writes (mysql-server and MariaDB:
Field::do_save_field_metadata).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from relay.model.column_families import (
    BLOBS,
    BYTES_OF_NAMED,
    FLOATS,
    GEOMETRIES,
    INTEGERS,
    VARCHARS,
)
from relay.model.table import Column, ColumnType, KeyKind, Logged, TableMap, is_in_row_metadata
from relay.schema.history.column_words import BYTE_KINDS, CHARACTER_KINDS, LONGEST_CHARACTER
from relay.schema.history.described import DescribedColumn, DescribedTable

_T: Final = ColumnType
_STRINGS: Final = frozenset({_T.STRING, _T.VAR_STRING})
_TYPES: Final[Mapping[str, frozenset[ColumnType]]] = {
    "tinyint": frozenset({_T.TINY}),
    "smallint": frozenset({_T.SHORT}),
    "mediumint": frozenset({_T.INT24}),
    "int": frozenset({_T.LONG}),
    "bigint": frozenset({_T.LONGLONG}),
    "float": frozenset({_T.FLOAT}),
    "double": frozenset({_T.DOUBLE}),
    "decimal": frozenset({_T.NEWDECIMAL, _T.DECIMAL}),
    "date": frozenset({_T.DATE, _T.NEWDATE}),
    "time": frozenset({_T.TIME, _T.TIME2}),
    "datetime": frozenset({_T.DATETIME, _T.DATETIME2}),
    "timestamp": frozenset({_T.TIMESTAMP, _T.TIMESTAMP2}),
    "year": frozenset({_T.YEAR}),
    "char": _STRINGS,
    "binary": _STRINGS,
    "varchar": VARCHARS,
    "varbinary": VARCHARS,
    **dict.fromkeys(
        (
            "tinytext",
            "text",
            "mediumtext",
            "longtext",
            "tinyblob",
            "blob",
            "mediumblob",
            "longblob",
        ),
        BLOBS,
    ),
    "json": frozenset({_T.JSON}),
    "enum": frozenset({_T.ENUM}),
    "set": frozenset({_T.SET}),
    "bit": frozenset({_T.BIT}),
    "vector": frozenset({_T.VECTOR, _T.VARCHAR, _T.VAR_STRING}),
    "uuid": _STRINGS,
    "inet4": _STRINGS,
    "inet6": _STRINGS,
    **dict.fromkeys(GEOMETRIES, frozenset({_T.GEOMETRY})),
}
_BLOB_LENGTHS: Final = {"tiny": 1, "": 2, "medium": 3, "long": 4}
_FRACTIONAL: Final = frozenset({_T.TIME2, _T.DATETIME2, _T.TIMESTAMP2})
# Types for which a table map says whether they are signed.
_NUMBERS: Final = INTEGERS | FLOATS | {_T.NEWDECIMAL}
HIDDEN_COLUMNS: Final = (
    "if the table has a functional index on MySQL 8.0.17, its table maps contain the index's "
    "hidden column: drop the index or upgrade the source, and then set the position after that "
    "change"
)
"""A possible cause of additional columns at the end, and the remedy for the operator."""


def completed(bare: TableMap, described: DescribedTable) -> TableMap | str:
    """Return the table map with names, labels, key and other missing facts. If it contradicts the
    description, return a sentence about the contradiction.
    """
    if len(bare.columns) != len(described.columns):
        counts = (
            f"the table map has {len(bare.columns)} columns, and the known definition has "
            f"{len(described.columns)}"
        )
        return f"{counts}; {HIDDEN_COLUMNS}" if _may_end_in_hidden(bare, described) else counts
    for column, known in zip(bare.columns, described.columns, strict=True):
        if wrong := _misfit(column, known, bare.logged):
            return f"column {known.name}: {wrong}"
    columns = tuple(
        _named(column, known, bare.logged)
        for column, known in zip(bare.columns, described.columns, strict=True)
    )
    key, kind = _key(described, columns)
    return replace(
        bare, columns=columns, primary_key=key, key_kind=kind, logged=Logged.FULL, unknown=""
    )


def _key(described: DescribedTable, columns: Sequence[Column]) -> tuple[tuple[int, ...], KeyKind]:
    """Return (ordinals, kind) of the table's key: the primary key, else the unique key that row
    metadata would name, else one that only catalogues name.
    """
    if described.primary_key:
        return _ordinals(described, described.primary_key), KeyKind.PRIMARY
    if described.indexes is None:
        return (), KeyKind.UNKNOWN
    unique = [
        _ordinals(described, index.columns)
        for index in described.indexes
        if index.unique and not index.prefixes
    ]
    keys = [key for key in unique if not any(columns[ordinal].nullable for ordinal in key)]
    return next(
        (key for key in keys if is_in_row_metadata(columns, key)), keys[0] if keys else ()
    ), KeyKind.NOT_PRIMARY


def _ordinals(described: DescribedTable, names: Iterable[str]) -> tuple[int, ...]:
    found = map(described.ordinal, names)
    return tuple(ordinal for ordinal in found if ordinal is not None)


def _may_end_in_hidden(bare: TableMap, described: DescribedTable) -> bool:
    """Return whether the table map has the known columns and further ones at the end, as MySQL
    8.0.17 writes for a functional index.
    """
    if not described.columns or len(bare.columns) < len(described.columns):
        return False
    return not any(
        _misfit(column, known, bare.logged)
        for column, known in zip(bare.columns, described.columns, strict=False)
    )


def _misfit(column: Column, known: DescribedColumn, logged: Logged) -> str:
    """Return the contradiction between a column of the table map and its description; "" if there
    is none.
    """
    types = _TYPES.get(known.kind)
    if types is not None and column.type not in types:
        return (
            f"the table map has the type {column.type.name}, and the known definition {known.kind}"
        )
    if (
        logged is Logged.NOTHING
        and known.kind in CHARACTER_KINDS - {"enum", "set"}
        and known.charset is None
    ):
        return "its character set is not known"
    return _flag_misfit(column, known, logged) or _text_misfit(column, known, logged)


def _flag_misfit(column: Column, known: DescribedColumn, logged: Logged) -> str:
    if known.nullable is not None and column.nullable != known.nullable:
        return (
            f"it is {'' if column.nullable else 'NOT '}NULL in the table map, and "
            f"{'NOT ' if column.nullable else ''}NULL in the known definition"
        )
    if logged is Logged.MINIMAL and column.type in _NUMBERS and column.unsigned != known.unsigned:
        return (
            f"it is {'un' if column.unsigned else ''}signed in the table map, and "
            f"{'un' if known.unsigned else ''}signed in the known definition"
        )
    return ""


def _text_misfit(column: Column, known: DescribedColumn, logged: Logged) -> str:
    if (
        logged is Logged.MINIMAL
        and _charset_known(column, known)
        and column.charset != known.charset
    ):
        return (
            f"its character set is {column.charset} in the table map, and {known.charset} in "
            "the known definition"
        )
    expected = _length(column, known)
    if expected is not None and expected != (column.length, column.scale):
        return (
            f"it has length and scale {column.length},{column.scale} in the table map, and "
            f"{expected[0]},{expected[1]} in the known definition"
        )
    return ""


def _charset_known(column: Column, known: DescribedColumn) -> bool:
    return (
        column.charset is not None
        and known.charset is not None
        and column.type not in (_T.ENUM, _T.SET)
    )


def _length(column: Column, known: DescribedColumn) -> tuple[int, int] | None:
    """Return the (length, scale) that the table map must have; None if they are unknown."""
    kind, first = known.kind, known.measures[0] if known.measures else 0
    if column.type is _T.NEWDECIMAL and len(known.measures) == 2:
        return known.measures[0], known.measures[1]
    if column.type in _FRACTIONAL or column.type is _T.BIT:
        return first, 0
    if kind in BYTES_OF_NAMED or kind in ("binary", "varbinary"):
        return BYTES_OF_NAMED.get(kind, first) + _method_bytes(column), 0
    if kind in ("char", "varchar"):
        return (
            None
            if known.charset is None
            else (first * LONGEST_CHARACTER.get(known.charset, 1) + _method_bytes(column), 0)
        )
    if column.type in BLOBS and column.type is not _T.BLOB_COMPRESSED:
        return _BLOB_LENGTHS[kind.removesuffix("text").removesuffix("blob")], 0
    if column.type is _T.ENUM:
        return 1 if len(known.labels) < 1 << 8 else 2, 0
    if column.type is _T.SET:
        octets = (len(known.labels) + 7) // 8
        return octets if octets <= 4 else 8, 0
    return None


def _method_bytes(column: Column) -> int:
    """Return how many bytes the table map adds to the length: MariaDB adds one for the compression
    method of a COMPRESSED column.
    """
    return 1 if column.type is _T.VARCHAR_COMPRESSED else 0


def _named(column: Column, known: DescribedColumn, logged: Logged) -> Column:
    nothing = logged is Logged.NOTHING
    return replace(
        column,
        name=known.name,
        unsigned=known.unsigned if nothing and column.type in _NUMBERS else column.unsigned,
        charset=_charset(column, known),
        labels=known.labels,
        geometry_type=GEOMETRIES.index(known.kind)
        if nothing and known.kind in GEOMETRIES
        else column.geometry_type,
        visible=known.visible,
    )


def _charset(column: Column, known: DescribedColumn) -> str | None:
    if column.charset is not None:
        return column.charset
    if known.charset is not None:
        return known.charset
    return "binary" if known.kind in BYTE_KINDS or known.kind in BYTES_OF_NAMED else None
