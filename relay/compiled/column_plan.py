"""The attributes of a column that the compiled printer reads: kind, sizes and printing data."""

from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple, TypeAlias

Extra: TypeAlias = tuple[bytes | None, ...] | Callable[[bytes], str] | None


class Kind(IntEnum):
    """How the printer reads and prints a column.

    `row_images` compares these numbers with its own when it is imported.
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


class Wire(IntEnum):
    """How a value is written in a message.

    `row_images` compares these numbers with its own when it is imported. QUOTED and BARE are for
    JSON: the text as a string, or as a number. The others are Avro's encodings: a zigzag number,
    the bytes of a floating-point number, bytes, and characters.
    """

    QUOTED = 0
    BARE = 1
    VARINT = 2
    FLOATING = 3
    BYTES = 4
    CHARACTERS = 5


class Envelope(NamedTuple):
    """How the printer of envelopes writes the images of each row.

    wires    how the value of each column is written
    between  text between the two images of an update
    end      text after the order key
    """

    wires: tuple[Wire, ...]
    between: bytes
    end: bytes

    @property
    def around(self) -> tuple[bytes, bytes, bool]:
        """(`between`, `end`, whether the images are Avro records instead of JSON objects)."""
        return self.between, self.end, not set(self.wires) <= {Wire.QUOTED, Wire.BARE}


class ColumnPlan(NamedTuple):
    """One column. Compiled code reads these fields by name.

    kind      how the value is read and printed
    width     bytes of a fixed value, or of the length before a variable one
    variable  whether the value has a length before it
    nullable  whether the value may be NULL
    by_text   whether two values are equal if their printed texts are equal
    digits    fractional digits, DECIMAL's precision, BIT's bits, BINARY's length, or number of
              labels
    scale     DECIMAL's scale
    name      bytes before the value, `{"id":` or `,"id":`
    extra     labels of ENUM and SET; the 256 characters of TABLE (None: no character); the function
              from bytes to text of OTHER
    wire      how the value is written
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
    wire: Wire = Wire.QUOTED
