"""Builds the bodies of TABLE_MAP and row events for tests, from the manual's description of
them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from relay.model.change import RawRows
from relay.model.positions.position import BinlogPosition

WRITE_V1, UPDATE_V1, DELETE_V1, WRITE_V2, UPDATE_V2, DELETE_V2 = 23, 24, 25, 30, 31, 32
_TABLE_ID_AND_FLAGS = bytes(6) + b"\x01\x00"


@dataclass(frozen=True, slots=True)
class WrittenColumn:
    """A column as a server would log it: type byte, type metadata, and its part of the optional
    fields.
    """

    type: int
    metadata: bytes = b""
    name: str = "c"
    nullable: bool = True
    unsigned: bool | None = None
    collation: int | None = None
    labels: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class WrittenTable:
    """A table whose map and rows can be written down."""

    columns: Sequence[WrittenColumn]
    primary_key: Sequence[int] = ()
    extra_fields: bytes = b""
    named: bool = True
    database: str = "shop"
    table: str = "orders"
    prefix_key: Sequence[tuple[int, int]] = field(default=())

    def map_body(self) -> bytes:
        """Return the body of the TABLE_MAP event."""
        columns = self.columns
        return b"".join(
            (
                _TABLE_ID_AND_FLAGS,
                *(
                    bytes([len(name.encode())]) + name.encode() + b"\0"
                    for name in (self.database, self.table)
                ),
                lenenc(len(columns)),
                bytes(c.type for c in columns),
                with_length(b"".join(c.metadata for c in columns)),
                bitmap([c.nullable for c in columns]),
                self._optional(),
            )
        )

    def _optional(self) -> bytes:
        signs = [c.unsigned for c in self.columns if c.unsigned is not None]
        texts = [c.collation for c in self.columns if c.collation is not None and not c.labels]
        labelled = [c for c in self.columns if c.labels]
        fields = [(1, bitmap_msb(signs))] if signs else []
        fields += [(3, b"".join(map(lenenc, texts)))] if texts else []
        fields += (
            [(4, b"".join(with_length(name.encode()) for name in self._names()))]
            if self.named
            else []
        )
        for kind, meta in ((5, b"\xf8"), (6, b"\xf7")):
            members = [c for c in labelled if c.metadata[:1] == meta]
            fields += [(kind, b"".join(_label_list(c.labels) for c in members))] if members else []
        if labelled and self.named:
            fields.append((11, b"".join(lenenc(c.collation or _UTF8MB4) for c in labelled)))
        fields += [(8, b"".join(map(lenenc, self.primary_key)))] if self.primary_key else []
        fields += (
            [(9, b"".join(lenenc(n) for pair in self.prefix_key for n in pair))]
            if self.prefix_key
            else []
        )
        return (
            b"".join(bytes([kind]) + with_length(value) for kind, value in fields)
            + self.extra_fields
        )

    def _names(self) -> list[str]:
        """The columns' names; one that stands already gets its number."""
        names: list[str] = []
        for column in self.columns:
            names.append(f"{column.name}{len(names)}" if column.name in names else column.name)
        return names


_UTF8MB4 = 255


def _label_list(labels: Sequence[str]) -> bytes:
    return lenenc(len(labels)) + b"".join(with_length(label.encode()) for label in labels)


def lenenc(number: int) -> bytes:
    """Return a length-encoded integer."""
    return bytes([number]) if number < 251 else b"\xfc" + number.to_bytes(2, "little")


def with_length(raw: bytes) -> bytes:
    return lenenc(len(raw)) + raw


def bitmap(flags: Sequence[bool]) -> bytes:
    """Return one bit per flag, least significant first."""
    return sum(1 << i for i, flag in enumerate(flags) if flag).to_bytes(
        (len(flags) + 7) // 8, "little"
    )


def bitmap_msb(flags: Sequence[bool]) -> bytes:
    """Return one bit per flag, most significant first."""
    return bytes(
        sum(0x80 >> i for i, flag in enumerate(flags[at : at + 8]) if flag)
        for at in range(0, len(flags), 8)
    )


def image(values: Sequence[bytes | None]) -> bytes:
    """Return a row image: null bits, then the values that are not null."""
    return bitmap([value is None for value in values]) + b"".join(
        value for value in values if value is not None
    )


def rows_body(
    width: int,
    *images: bytes,
    kind: int = WRITE_V2,
    present: Sequence[bytes] | None = None,
    extra: bytes = b"",
) -> bytes:
    """Return the body of a row event.

    `present` holds its bitmaps of logged columns, by default all columns.
    """
    full = bitmap([True] * width)
    bitmaps = (
        present if present is not None else [full] * (2 if kind in (UPDATE_V1, UPDATE_V2) else 1)
    )
    v2 = (len(extra) + 2).to_bytes(2, "little") + extra if kind >= WRITE_V2 else b""
    return _TABLE_ID_AND_FLAGS + v2 + lenenc(width) + b"".join(bitmaps) + b"".join(images)


def raw_rows(
    table_map: bytes, body: bytes, kind: int = WRITE_V2, *, mariadb: bool = False
) -> RawRows:
    return RawRows(
        table_map, body, kind, 1_767_225_600, BinlogPosition("binlog.000001", 1234), mariadb
    )
