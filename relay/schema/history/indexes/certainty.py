"""Decides whether all releases of a server create the same unique keys for a table. Pure."""

from collections.abc import Iterable
from typing import Final

from relay.model.column_families import GEOMETRIES
from relay.schema.history.column_words import LONGEST_CHARACTER
from relay.schema.history.described import DescribedColumn, DescribedIndex, DescribedTable
from relay.schema.history.indexes.index_order import PREFIXED, WITH_PREFIX

_SHAPES: Final = frozenset(GEOMETRIES)
"""Kinds of columns in unique keys for which releases choose different prefixes."""
_SHORTEST_LIMIT: Final = 767
"""Smallest limit of a key in bytes: that of InnoDB's older row formats."""


def are_certain(indexes: Iterable[DescribedIndex], table: DescribedTable, *, mariadb: bool) -> bool:
    """Return whether all releases create these unique keys in the same way.

    Two differences are possible: releases choose their own prefixes for spatial columns, and
    MariaDB stores long keys as hashes, which it sorts after the other keys.
    """
    unique = [index for index in indexes if index.unique]
    shapes = {column.name.lower() for column in table.columns if column.kind in _SHAPES}
    if any(shapes & {name.lower() for name in index.columns} for index in unique):
        return False
    return not (
        mariadb and len(unique) > 1 and any(may_be_hashed(index, table.columns) for index in unique)
    )


def may_be_hashed(index: DescribedIndex, columns: Iterable[DescribedColumn]) -> bool:
    """Return whether MariaDB may store a unique key as a hash.

    That is possible if the key contains a TEXT or BLOB column without a prefix length, or if it is
    longer than some row formats allow.
    """
    sizes = {column.name.lower(): _key_bytes(column) for column in columns}
    prefixes = index.prefixes or (0,) * len(index.columns)
    parts = zip(index.columns, prefixes, strict=True)
    return (
        index.unique
        and sum(prefix or sizes.get(name.lower(), 0) for name, prefix in parts) > _SHORTEST_LIMIT
    )


def _key_bytes(column: DescribedColumn) -> int:
    """Return the bytes that a whole column has in a key; 0 for kinds that are always short."""
    if column.kind in PREFIXED and column.measures:
        return column.measures[0] * LONGEST_CHARACTER.get(column.charset or "", 1)
    return _SHORTEST_LIMIT + 1 if column.kind in WITH_PREFIX else 0
