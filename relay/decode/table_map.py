"""Parses the body of a TABLE_MAP event into a TableMap (MySQL manual: Table_map_event)."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

from relay.charsets.collations import charset_of_collation
from relay.decode.column_shapes import UPGRADE, ColumnShape, read_shapes
from relay.decode.labels import label_text
from relay.decode.optional_metadata import Field, OptionalMetadata, read_optional_metadata
from relay.decode.values.cursor import Cursor
from relay.decode.values.malformed import Malformed
from relay.errors import CorruptEvent, UnsupportedEvent
from relay.model.column_families import LABELLED, STRINGS
from relay.model.table import Column, ColumnType, KeyKind, Logged, TableId, TableMap

_Entry = TypeVar("_Entry")

TABLE_ID_AND_FLAGS_BYTES: Final = 8

_NUMERIC: Final = frozenset(
    {
        ColumnType.TINY,
        ColumnType.SHORT,
        ColumnType.INT24,
        ColumnType.LONG,
        ColumnType.LONGLONG,
        ColumnType.NEWDECIMAL,
        ColumnType.FLOAT,
        ColumnType.DOUBLE,
        ColumnType.YEAR,
    }
)
# Each server's lists of character sets also have an entry for a type without characters: MariaDB's
# for geometries, MySQL's for vectors.
_CHARACTER_MARIADB: Final = STRINGS | {ColumnType.GEOMETRY}
_CHARACTER_MYSQL: Final = STRINGS | {ColumnType.VECTOR}
_WITHOUT_CHARACTERS: Final = frozenset({ColumnType.GEOMETRY, ColumnType.VECTOR})

NO_NAMES: Final = "its table map carries no column names"
_NO_CHARSETS: Final = "its table map carries no character set for the labels of an ENUM or SET"


def parse_table_map(body: bytes, *, mariadb: bool) -> TableMap:
    """Return the table that the body of a TABLE_MAP event describes, without header and checksum.

    If the server logs no column names, the table is marked `unknown`. Raises UnsupportedEvent for a
    type or collation that only a newer server has, and CorruptEvent if the bytes contradict
    themselves.
    """
    cursor = Cursor(body)
    table = TableId("?", "?")
    try:
        cursor.take(TABLE_ID_AND_FLAGS_BYTES, "table id and flags")
        table = TableId(_name(cursor, "the database name"), _name(cursor, "the table name"))
        shapes = read_shapes(cursor, table)
        return _table_map(table, shapes, read_optional_metadata(cursor), mariadb=mariadb)
    except Malformed as exc:
        raise CorruptEvent(f"The table map of {table} is damaged: {exc}.") from exc


def _name(cursor: Cursor, what: str) -> str:
    raw = cursor.lenenc_bytes(what)
    if cursor.take(1, what) != b"\0":
        raise Malformed(f"{what} does not end with a zero byte")
    return _utf8(raw, what)


def _utf8(raw: bytes, what: str) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as exc:
        raise Malformed(f"{what} is not UTF-8: {raw.hex()}") from exc


def _raw_names(metadata: OptionalMetadata, count: int, logged: Logged) -> Sequence[bytes]:
    """Return the name of each of `count` columns, b"" if the table map has no names. Raises
    Malformed.
    """
    names = metadata.names()
    if names is None:
        names = [b""] * count
    if len(names) != count:
        raise Malformed(f"{len(names)} names for {count} columns")
    if logged is Logged.FULL and len(set(names)) != count:
        raise Malformed("two columns have one name")
    return names


def _table_map(
    table: TableId, shapes: list[ColumnShape], metadata: OptionalMetadata, *, mariadb: bool
) -> TableMap:
    logged = _logged(metadata)
    charsets = _charsets(table, shapes, metadata, mariadb=mariadb)
    members = _members(shapes, metadata)
    columns = _columns(shapes, metadata, logged, charsets, _labels(members, charsets))
    kind = KeyKind.EITHER if logged is Logged.FULL else KeyKind.UNKNOWN
    bare = TableMap(table, columns, metadata.primary_key(len(shapes)), logged, key_kind=kind)
    if logged is not Logged.FULL:
        return bare.without_names(NO_NAMES)
    return bare.without_names(_NO_CHARSETS) if _lack_a_charset(members, charsets) else bare


def _columns(
    shapes: list[ColumnShape],
    metadata: OptionalMetadata,
    logged: Logged,
    charsets: list[str | None],
    labels: list[tuple[str, ...]],
) -> tuple[Column, ...]:
    """Return the columns; `charsets` and `labels` have one entry for each."""
    count = len(shapes)
    raw_names = _raw_names(metadata, count, logged)
    unsigned = _spread(
        shapes,
        _NUMERIC.__contains__,
        lambda n: metadata.flags(Field.SIGNEDNESS, n, default=False),
        default=False,
    )
    geometry = _spread(shapes, ColumnType.GEOMETRY.__eq__, metadata.geometry_types, default=0)
    visible = metadata.flags(Field.COLUMN_VISIBILITY, count, default=True)
    return tuple(
        Column(
            name=_utf8(raw_names[i], "a column name"),
            type=shape.type,
            nullable=shape.nullable,
            length=shape.length,
            scale=shape.scale,
            unsigned=unsigned[i],
            charset=charsets[i],
            labels=labels[i],
            geometry_type=geometry[i],
            visible=visible[i],
        )
        for i, shape in enumerate(shapes)
    )


def _logged(metadata: OptionalMetadata) -> Logged:
    if Field.COLUMN_NAME in metadata.fields:
        return Logged.FULL
    # Servers omit optional fields without a column of their kind. A table map without any field may
    # thus come from a server with or without them.
    return Logged.MINIMAL if metadata.fields else Logged.NOTHING


def _spread(
    shapes: list[ColumnShape],
    belongs: Callable[[ColumnType], bool],
    entries: Callable[[int], list[_Entry]],
    *,
    default: _Entry,
) -> list[_Entry]:
    """Return an entry for each column: for columns of the kind, the next entry of a field that
    counts only these; `default` for all others.
    """
    members = [belongs(shape.type) for shape in shapes]
    following: Iterator[_Entry] = iter(entries(sum(members)))
    return [next(following) if member else default for member in members]


def _charsets(
    table: TableId, shapes: list[ColumnShape], metadata: OptionalMetadata, *, mariadb: bool
) -> list[str | None]:
    character = _CHARACTER_MARIADB if mariadb else _CHARACTER_MYSQL
    texts = _spread(
        shapes,
        character.__contains__,
        lambda n: metadata.collations(Field.DEFAULT_CHARSET, Field.COLUMN_CHARSET, n),
        default=None,
    )
    labelled = _spread(
        shapes,
        LABELLED.__contains__,
        lambda n: metadata.collations(
            Field.ENUM_AND_SET_DEFAULT_CHARSET, Field.ENUM_AND_SET_COLUMN_CHARSET, n
        ),
        default=None,
    )
    numbers = [label if text is None else text for text, label in zip(texts, labelled, strict=True)]
    return [
        None if number is None or shape.type in _WITHOUT_CHARACTERS else _charset(table, number)
        for shape, number in zip(shapes, numbers, strict=True)
    ]


def _charset(table: TableId, number: int) -> str:
    charset = charset_of_collation(number)
    if charset is None:
        raise UnsupportedEvent(
            f"{table} has a column of the unknown collation {number}.", remedy=UPGRADE
        )
    return charset


def _members(shapes: list[ColumnShape], metadata: OptionalMetadata) -> list[list[bytes]]:
    """Return the labels of each column as bytes; () for columns other than ENUM and SET."""
    none: list[bytes] = []
    enums = _spread(
        shapes,
        ColumnType.ENUM.__eq__,
        lambda n: metadata.labels(Field.ENUM_STR_VALUE, n),
        default=none,
    )
    sets = _spread(
        shapes,
        ColumnType.SET.__eq__,
        lambda n: metadata.labels(Field.SET_STR_VALUE, n),
        default=none,
    )
    return [enum or members for enum, members in zip(enums, sets, strict=True)]


def _labels(members: list[list[bytes]], charsets: list[str | None]) -> list[tuple[str, ...]]:
    """Return the labels as texts; () if their character set is unknown."""
    return [
        () if charset is None else tuple(label_text(raw, charset) for raw in labels)
        for labels, charset in zip(members, charsets, strict=True)
    ]


def _lack_a_charset(members: list[list[bytes]], charsets: list[str | None]) -> bool:
    """Return whether there are labels without their character set, as MySQL 8.0.12 logs them. Their
    bytes may then mean any text.
    """
    return any(
        labels and charset is None for labels, charset in zip(members, charsets, strict=True)
    )
