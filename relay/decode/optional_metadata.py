"""Reads the optional fields at the end of a table map (MySQL manual: Table_map_event,
Table_map_log_event optional metadata).

Each field is type (1 byte), length (length-encoded) and value. Fields of unknown types are ignored.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeVar

from relay.decode.values.cursor import Cursor
from relay.decode.values.malformed import Malformed

_Entry = TypeVar("_Entry")


class Field(IntEnum):
    """The types of optional fields that are about rows."""

    SIGNEDNESS = 1
    DEFAULT_CHARSET = 2
    COLUMN_CHARSET = 3
    COLUMN_NAME = 4
    SET_STR_VALUE = 5
    ENUM_STR_VALUE = 6
    GEOMETRY_TYPE = 7
    SIMPLE_PRIMARY_KEY = 8
    PRIMARY_KEY_WITH_PREFIX = 9
    ENUM_AND_SET_DEFAULT_CHARSET = 10
    ENUM_AND_SET_COLUMN_CHARSET = 11
    COLUMN_VISIBILITY = 12


@dataclass(slots=True)
class OptionalMetadata:
    """The optional fields by type. A field has entries only for the columns of its kind, such as
    one sign flag for each numeric column.
    """

    fields: dict[int, bytes] = field(default_factory=dict)

    def names(self) -> list[bytes] | None:
        """Return the column names, None if the server did not log them."""
        raw = self.fields.get(Field.COLUMN_NAME)
        if raw is None:
            return None
        cursor = Cursor(raw)
        names = []
        while cursor.remaining:
            names.append(cursor.lenenc_bytes("a column name"))
        return names

    def flags(self, kind: Field, count: int, *, default: bool) -> list[bool]:
        """Return the flags of `count` columns of the kind, most significant bit first; `default`
        for each if the field is missing.
        """
        raw = self.fields.get(kind)
        if raw is None:
            return [default] * count
        if len(raw) != (count + 7) // 8:
            raise Malformed(f"{kind.name} holds {len(raw)} bytes for {count} columns")
        return [bool(raw[i >> 3] & (0x80 >> (i & 7))) for i in range(count)]

    def collations(self, default_kind: Field, column_kind: Field, count: int) -> list[int | None]:
        """Return one collation number for each of `count` columns.

        `column_kind` is the field that has a number for each column. `default_kind` is the field
        that has a default and the exceptions. All numbers are None if the server logged neither
        field. Raises Malformed.
        """
        if (raw := self.fields.get(column_kind)) is not None:
            return list(_exactly(Cursor(raw).lenenc_all(column_kind.name), count, column_kind))
        if (raw := self.fields.get(default_kind)) is None:
            return [None] * count
        cursor = Cursor(raw)
        collations: list[int | None] = [cursor.lenenc(default_kind.name)] * count
        for index, collation in _pairs(cursor.lenenc_all(default_kind.name), default_kind):
            if index >= count:
                raise Malformed(f"{default_kind.name} names column {index} of {count}")
            collations[index] = collation
        return collations

    def labels(self, kind: Field, count: int) -> list[list[bytes]]:
        """Return the members of each ENUM or SET column as bytes; empty lists if the server did not
        log them.
        """
        if Field.COLUMN_NAME not in self.fields and kind not in self.fields:
            return [[] for _ in range(count)]
        cursor = Cursor(self.fields.get(kind, b""))
        members = []
        while cursor.remaining:
            size = cursor.lenenc(kind.name)
            if size > cursor.remaining:
                raise Malformed(f"{kind.name} declares {size} labels in {cursor.remaining} bytes")
            members.append([cursor.lenenc_bytes("a label") for _ in range(size)])
        return list(_exactly(members, count, kind))

    def geometry_types(self, count: int) -> list[int]:
        """Return the type number of each GEOMETRY column; 0: any geometry."""
        raw = self.fields.get(Field.GEOMETRY_TYPE)
        if raw is None:
            return [0] * count
        return list(_exactly(Cursor(raw).lenenc_all("GEOMETRY_TYPE"), count, Field.GEOMETRY_TYPE))

    def primary_key(self, count: int) -> tuple[int, ...]:
        """Return the ordinals of the primary key in key order, also if the key has prefixes of
        columns.
        """
        if (raw := self.fields.get(Field.PRIMARY_KEY_WITH_PREFIX)) is not None:
            numbers = Cursor(raw).lenenc_all("PRIMARY_KEY_WITH_PREFIX")
            key = tuple(index for index, _ in _pairs(numbers, Field.PRIMARY_KEY_WITH_PREFIX))
        else:
            key = tuple(
                Cursor(self.fields.get(Field.SIMPLE_PRIMARY_KEY, b"")).lenenc_all(
                    "SIMPLE_PRIMARY_KEY"
                )
            )
        if len(set(key)) != len(key) or any(index >= count for index in key):
            raise Malformed(f"the primary key {key} does not fit {count} columns")
        return key


def read_optional_metadata(cursor: Cursor) -> OptionalMetadata:
    """Read all fields up to the end of the event."""
    metadata = OptionalMetadata()
    while cursor.remaining:
        kind = cursor.unsigned(1, "an optional field's type")
        metadata.fields[kind] = cursor.lenenc_bytes(f"optional field {kind}")
    return metadata


def _pairs(numbers: Sequence[int], kind: Field) -> Iterable[tuple[int, int]]:
    if len(numbers) % 2:
        raise Malformed(f"{kind.name} ends in the middle of a pair")
    return zip(numbers[::2], numbers[1::2], strict=True)


def _exactly(entries: Sequence[_Entry], count: int, kind: Field) -> Sequence[_Entry]:
    if len(entries) != count:
        raise Malformed(f"{kind.name} holds {len(entries)} entries for {count} columns")
    return entries
