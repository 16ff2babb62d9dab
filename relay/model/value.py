"""What a decoded column may hold: the narrowest lossless form, before any text style is chosen.

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
    """The one value of a column that the row image leaves out."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


class JsonScalarKind(Enum):
    """Scalars inside MySQL's binary JSON that plain JSON has no word for."""

    DECIMAL = "decimal"
    DATE = "date"
    TIME = "time"
    DATETIME = "datetime"
    TIMESTAMP = "timestamp"
    OPAQUE = "opaque"
    UNSIGNED = "unsigned"


@dataclass(frozen=True, slots=True)
class JsonScalar:
    """A typed scalar of binary JSON: `text` as MySQL prints it (unquoted), or `raw` bytes with
    their `field_type` for OPAQUE.
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
    """A parsed binary JSON value; keys in the server's storage order."""

    root: JsonNode


Value: TypeAlias = "int | float | str | bytes | JsonDocument | Absent | None"
Row: TypeAlias = tuple[Value, ...]


def same_value(left: Value, right: Value) -> bool:
    """Return whether two values of one column are the same and print the same.

    Python compares as equal what prints differently: 0.0 and -0.0, and the 1 of a JSON document
    with its 1.0 and its true.
    """
    if isinstance(left, float | JsonDocument):
        return repr(left) == repr(right)
    return left == right
