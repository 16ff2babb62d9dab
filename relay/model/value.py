"""The Python values of decoded columns: the narrowest type without loss, before a text style is
chosen. `relay.decode` makes them, and `relay.encode` prints them.

| column type | value |
|---|---|
| integers, YEAR, BIT | int |
| ENUM | int, the index of the label (0 = the empty error value); SET: int, the bit mask |
| FLOAT, DOUBLE | float |
| DECIMAL | str with its scale, no zero-fill |
| DATE, TIME, DATETIME, TIMESTAMP (UTC) | str, as the server prints it, with its fractional digits |
| CHAR, VARCHAR, TEXT, BINARY, VARBINARY, BLOB, GEOMETRY, VECTOR | bytes (CHAR without trailing pad) |
| JSON | JsonDocument on MySQL; on MariaDB JSON is a text column: bytes |
| SQL NULL | None |
| not in the row image (MINIMAL, NOBLOB) | ABSENT |
"""  # noqa: E501

from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias


class Absent(Enum):
    """The value of a column that the row image does not contain."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


class JsonScalarKind(Enum):
    """The kinds of scalars in MySQL's binary JSON that JSON text cannot express."""

    DECIMAL = "decimal"
    DATE = "date"
    TIME = "time"
    DATETIME = "datetime"
    TIMESTAMP = "timestamp"
    OPAQUE = "opaque"
    UNSIGNED = "unsigned"


@dataclass(frozen=True, slots=True)
class JsonScalar:
    """A typed scalar of binary JSON.

    text        the scalar as MySQL prints it, without quotes
    raw         bytes of an OPAQUE scalar
    field_type  column type of an OPAQUE scalar
    """

    kind: JsonScalarKind
    text: str
    raw: bytes = b""
    field_type: int = 0


JsonNode: TypeAlias = (
    "bool | int | float | str | JsonScalar | list[JsonNode] | dict[str, JsonNode] | None"
)


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """A parsed document of MySQL's binary JSON. Keys of objects are in the order in which the
    server stores them.
    """

    root: JsonNode


Value: TypeAlias = "int | float | str | bytes | JsonDocument | Absent | None"
Row: TypeAlias = tuple[Value, ...]


def same_value(left: Value, right: Value) -> bool:
    """Return whether two values of one column are the same and print the same.

    Some values are equal in Python but print differently: 0.0 and -0.0, and in JSON documents 1,
    1.0 and true.
    """
    if isinstance(left, float | JsonDocument):
        return repr(left) == repr(right)
    return left == right
