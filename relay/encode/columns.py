"""Groups of column types for the encoders, and the type of a function that prints a column's
values.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from relay.model.column_families import FLOATS
from relay.model.table import Column, ColumnType

ColumnText: TypeAlias = Callable[[Any], str]
"""Prints a value of one column as text. It is not called for NULL and ABSENT.

The column determines the Python type of the values (relay.model.value).
"""

BINARY: Final = "binary"
"""The character set of columns that contain bytes."""

_COMPARED_BY_TEXT: Final = FLOATS | {ColumnType.JSON}


def compares_by_text(column: Column) -> bool:
    """Return whether two values of a column can be equal in Python but print differently (0.0 and
    -0.0; in JSON 1 and true).
    """
    return column.type in _COMPARED_BY_TEXT


def is_bytes(column: Column) -> bool:
    """Return whether a string column holds bytes rather than characters."""
    return column.charset == BINARY
