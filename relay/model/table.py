"""Tables and columns as the binlog's table map describes them (MySQL manual: Table_map_event)."""

from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from typing import NamedTuple


class TableId(NamedTuple):
    """A database and a table, real or logical."""

    database: str
    table: str

    def __str__(self) -> str:
        return f"{self.database}.{self.table}"


class ColumnType(IntEnum):
    """The binlog's column type codes, ENUM and SET already taken out of STRING."""

    DECIMAL = 0
    TINY = 1
    SHORT = 2
    LONG = 3
    FLOAT = 4
    DOUBLE = 5
    NULL = 6
    TIMESTAMP = 7
    LONGLONG = 8
    INT24 = 9
    DATE = 10
    TIME = 11
    DATETIME = 12
    YEAR = 13
    NEWDATE = 14
    VARCHAR = 15
    BIT = 16
    TIMESTAMP2 = 17
    DATETIME2 = 18
    TIME2 = 19
    BLOB_COMPRESSED = 140
    VARCHAR_COMPRESSED = 141
    VECTOR = 242
    JSON = 245
    NEWDECIMAL = 246
    ENUM = 247
    SET = 248
    TINY_BLOB = 249
    MEDIUM_BLOB = 250
    LONG_BLOB = 251
    BLOB = 252
    VAR_STRING = 253
    STRING = 254
    GEOMETRY = 255


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table map.

    `length` is the type's first measure: bytes of CHAR/VARCHAR/ENUM/SET, bits of BIT, length-prefix bytes of BLOB/JSON/GEOMETRY,
    bytes of FLOAT/DOUBLE, digits of DECIMAL, fractional digits of TIME2/DATETIME2/TIMESTAMP2. `scale` is DECIMAL's.
    `charset` is the server's name of a character column's character set, `"binary"` for bytes, None for other types.
    `labels` are the members of ENUM and SET. `geometry_type` is the table map's number (0 = any).
    """

    name: str
    type: ColumnType
    nullable: bool
    length: int = 0
    scale: int = 0
    unsigned: bool = False
    charset: str | None = None
    labels: tuple[str, ...] = ()
    geometry_type: int = 0
    visible: bool = True


class Logged(Enum):
    """What the server wrote about the columns (binlog_row_metadata)."""

    FULL = "everything"
    MINIMAL = "signs and character sets"
    NOTHING = "types alone"


@dataclass(frozen=True, slots=True)
class TableMap:
    """What one table map event says; equal maps describe the same table version.

    `primary_key` holds column ordinals in key order (empty: none). A map that is not `logged` FULL has no names until somebody who
    knows them has completed it; `unknown` says why nobody does ("" for every other map).
    """

    id: TableId
    columns: tuple[Column, ...]
    primary_key: tuple[int, ...] = ()
    logged: Logged = Logged.FULL
    unknown: str = ""

    def without_names(self, unknown: str) -> "TableMap":
        """The same map, as one whose names nobody knows."""
        return replace(self, unknown=unknown)


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A table map with what the binlog does not say: the key that names a row, and type texts.

    `key` holds ordinals of the primary key, else of the first unique not-null key, else nothing.
    `type_texts` holds the `mysqlType` text of each column.
    """

    map: TableMap
    key: tuple[int, ...]
    type_texts: tuple[str, ...]

    @property
    def id(self) -> TableId:
        return self.map.id
