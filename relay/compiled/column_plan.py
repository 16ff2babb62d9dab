"""What the compiled printer reads of a column: its kind, its measures and what it prints from."""

from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple, TypeAlias

Extra: TypeAlias = tuple[bytes | None, ...] | Callable[[bytes], str] | None


class Kind(IntEnum):
    """How the printer reads and prints a column.

    `row_printer` compares these numbers with its own when it is imported.
    """

    SIGNED = 0
    UNSIGNED = 1
    DECIMAL = 2
    DATE = 3
    DATETIME = 4
    TIMESTAMP = 5
    TIME = 6
    YEAR = 7
    UTF8 = 8
    TABLE = 9
    BASE64 = 10
    ENUM = 11
    SET = 12
    BIT = 13
    OTHER = 14
    FLOAT = 15
    DOUBLE = 16
    JSON = 17


class ColumnPlan(NamedTuple):
    """One column as the printer reads it by these names.

    kind: how the value is read and printed. width: bytes of a fixed value, or of the length before
    one that varies (`variable`). nullable: whether an image may hold no value of it. by_text: two
    values are equal when they print equal. digits: fractional digits, DECIMAL's precision, BIT's
    bits, BINARY's length, or the number of labels. scale: DECIMAL's scale. name: the bytes before
    the value, `{"id":` or `,"id":`. extra: the labels of ENUM and SET, the 256 characters of TABLE
    (None: no character), or the function from bytes to text of OTHER.
    """

    kind: Kind
    width: int
    variable: bool
    nullable: bool
    by_text: bool
    digits: int
    scale: int
    name: bytes
    extra: Extra
