"""Tables and columns as table maps of the binlog describe them (MySQL manual: Table_map_event)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from sys import intern
from typing import Final, NamedTuple


class TableId(NamedTuple):
    """A database and a table, real or logical."""

    database: str
    table: str

    def __str__(self) -> str:
        return f"{self.database}.{self.table}"


def tables_named(names: Iterable[str]) -> list[TableId]:
    """Return the tables of names `database.table`; a name without a database is left out.

    Equal names are one string object, which saves memory: many instances have the same names.
    """
    return [TableId(*map(intern, name.split(".", 1))) for name in names if "." in name]


class ColumnType(IntEnum):
    """The binlog's codes of column types. ENUM and SET, which table maps write as STRING, have
    their own codes here.
    """

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


_BLOBS: Final = frozenset(
    {
        ColumnType.TINY_BLOB,
        ColumnType.BLOB,
        ColumnType.MEDIUM_BLOB,
        ColumnType.LONG_BLOB,
        ColumnType.BLOB_COMPRESSED,
    }
)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table map.

    length         the first measure of the type: bytes of CHAR, VARCHAR, ENUM, SET, FLOAT and
                   DOUBLE; bits of BIT; bytes of the length prefix of BLOB, JSON and GEOMETRY;
                   digits of DECIMAL; fractional digits of TIME2, DATETIME2 and TIMESTAMP2
    scale          digits after the point of DECIMAL
    charset        the server's name of a column's character set, "binary" for bytes, else None
    labels         members of ENUM and SET
    geometry_type  the table map's number of a geometry type; 0: any
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
    """The column metadata that the server wrote (binlog_row_metadata)."""

    FULL = "everything"
    MINIMAL = "signs and character sets"
    NOTHING = "types alone"


class KeyKind(Enum):
    """What is known about the key in `primary_key` of a table map, as readable texts."""

    EITHER = (
        "a PRIMARY KEY, or the first unique key without NULL in its place: row metadata does not "
        "distinguish them"
    )
    PRIMARY = "a PRIMARY KEY"
    NOT_PRIMARY = "a unique key, or no key at all"
    UNKNOWN = "the keys are not known"


@dataclass(frozen=True, slots=True)
class TableMap:
    """The contents of one table map event. Equal maps describe the same version of a table.

    primary_key  ordinals of the columns of the primary key or of a unique key, in key order;
                 empty: no key is known
    key_kind     what is known about this key, for example that it is the primary key
    logged       the column metadata that the server wrote. Unless it is FULL, the schema history
                 adds the names
    unknown      why the names could not be added; "" otherwise
    """

    id: TableId
    columns: tuple[Column, ...]
    primary_key: tuple[int, ...] = ()
    logged: Logged = Logged.FULL
    unknown: str = ""
    key_kind: KeyKind = KeyKind.EITHER

    def without_names(self, unknown: str) -> "TableMap":
        """Return the table map, marked as one whose column names are unknown."""
        return replace(self, unknown=unknown)


_LONGEST_KEY_PART: Final = 3072
"""Longest key part in bytes.

MariaDB stores a unique key over a longer column as a hash, and never uses it as a primary key.
"""


def is_in_row_metadata(columns: Sequence[Column], key: Iterable[int]) -> bool:
    """Return whether row metadata names this unique key if the table has no primary key.

    Row metadata does not name a key that MariaDB stores as a hash; catalogues show such a key too.
    """
    return not any(
        columns[each].type in _BLOBS or columns[each].length > _LONGEST_KEY_PART for each in key
    )


@dataclass(frozen=True, slots=True)
class RowVersions:
    """How a MariaDB system-versioned table distinguishes current rows from history rows.

    end  ordinal of the column AS ROW END
    key  ordinals of the key of history rows, in key order; empty if the table has no key
    """

    end: int
    key: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A table map with facts that the binlog lacks.

    key         ordinals of the key that identifies a row: the primary key, else the first unique
                key without NULL, else empty. In canal style only a real PRIMARY KEY
    type_texts  the `mysqlType` text of each column
    versions    set if messages mark history rows; `key` is then the key of current rows
    """

    map: TableMap
    key: tuple[int, ...]
    type_texts: tuple[str, ...]
    versions: RowVersions | None = None

    @property
    def id(self) -> TableId:
        """Return the table's database and name from its table map."""
        return self.map.id
