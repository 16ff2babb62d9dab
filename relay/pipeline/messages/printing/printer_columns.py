"""Describes the columns of a table to the compiled printer, and finds those that it cannot print.

Pure: the description depends only on the table's definition.
"""

import re
import struct
from collections.abc import Callable, Sequence
from typing import Final

import orjson

from relay.charsets import byte_characters, is_utf8
from relay.compiled import ColumnPlan, Extra, Kind, Wire
from relay.decode import Fixed, Malformed, Prefixed, Storage, Unpacked, storage_of
from relay.encode import (
    RowsEncoder,
    exact_text,
    fixed_decimals,
    json_number,
    named_bytes,
    refuse_undecodable,
)
from relay.model.column_families import FLOATS, INTEGERS
from relay.model.table import Column, ColumnType, TableDefinition, TableMap
from relay.model.value import Value

_PLAIN: Final = {
    ColumnType.DATE: Kind.DATE,
    ColumnType.NEWDATE: Kind.DATE,
    ColumnType.DATETIME2: Kind.DATETIME,
    ColumnType.TIMESTAMP2: Kind.TIMESTAMP,
    ColumnType.TIME2: Kind.TIME,
    ColumnType.YEAR: Kind.YEAR,
    ColumnType.BIT: Kind.BIT,
}
_FLOATING: Final = {ColumnType.FLOAT: Kind.FLOAT, ColumnType.DOUBLE: Kind.DOUBLE}
_LABELLED: Final = {ColumnType.ENUM: Kind.ENUM, ColumnType.SET: Kind.SET}
_BYTES: Final = frozenset({ColumnType.GEOMETRY, ColumnType.VECTOR})
_NUMBERS: Final = frozenset({Wire.BARE, Wire.VARINT})
_ZERO_FILL: Final = re.compile(r"\s*\bzerofill\b", re.IGNORECASE)
_BLOBS: Final = frozenset(
    {ColumnType.TINY_BLOB, ColumnType.BLOB, ColumnType.MEDIUM_BLOB, ColumnType.LONG_BLOB}
)
_STRINGS: Final = _BLOBS | {ColumnType.VARCHAR, ColumnType.VAR_STRING, ColumnType.STRING}
# Equal for a reader when they print equal: 0.0 and the six digits of a FLOAT, JSON's parts in
# another order.
_BY_TEXT: Final = FLOATS | {ColumnType.JSON}


def columns_of(
    definition: TableDefinition, encoder: RowsEncoder, *, lossless_keys: bool
) -> list[ColumnPlan]:
    """Return how the compiled printer reads and prints each column; [] if it cannot print one of
    them.

    definition     the table as it is published
    encoder        the encoder of the readable path, whose bytes the printer must match
    lossless_keys  True: the printer refuses events with undecodable bytes in a key column
    """
    refusing = frozenset(definition.key if lossless_keys else ())
    wires = _wires(definition, encoder)
    if wires is None:
        return []
    plans: list[ColumnPlan] = []
    for ordinal, (column, text) in enumerate(
        zip(definition.map.columns, definition.type_texts, strict=True)
    ):
        try:
            undecodable = refuse_undecodable if ordinal in refusing else encoder.count_undecodable
            plan = _column(
                column,
                _ZERO_FILL.sub("", text) if wires[ordinal] in _NUMBERS else text,
                (b"," if ordinal else b"{") + orjson.dumps(column.name) + b":",
                undecodable,
            )
        except Malformed:
            return []
        if plan is None or (wires[ordinal] is Wire.BYTES and plan.kind is not Kind.BASE64):
            return []
        plans.append(_written_as(plan, wires[ordinal]))
    return plans


def _written_as(plan: ColumnPlan, wire: Wire) -> ColumnPlan:
    """Return the plan of a column whose values are written in this way."""
    text = plan.extra
    if wire is Wire.BARE and callable(text):  # FLOAT(M,D) and DOUBLE(M,D)
        printed = text
        return plan._replace(wire=wire, extra=lambda piece: json_number(printed(piece)))
    return plan._replace(wire=wire)


def _wires(definition: TableDefinition, encoder: RowsEncoder) -> Sequence[Wire] | None:
    """Return how each column's value is written.

    None if a key has a zero-filled column: its text in the key is not the row's number.
    """
    if encoder.envelope is None:
        return [Wire.QUOTED] * len(definition.map.columns)
    wires = encoder.envelope.wires
    filled = [definition.type_texts[each] for each in definition.key if wires[each] in _NUMBERS]
    return None if any("zerofill" in text.lower() for text in filled) else wires


def measures_of(table: TableMap) -> list[ColumnPlan]:
    """Return how the compiled printer finds the length of each value, for counting rows; [] if it
    cannot find it for one of the columns.
    """
    try:
        return [
            ColumnPlan(
                Kind.OTHER, *_stored(storage_of(each)), each.nullable, False, 0, 0, b"", None
            )
            for each in table.columns
        ]
    except Malformed:
        return []


def _stored(storage: Storage) -> tuple[int, bool]:
    """The bytes of a fixed value, or of the length before one that varies; and whether it
    varies.
    """
    return (storage.prefix, True) if isinstance(storage, Prefixed) else (storage.width, False)


def _column(
    column: Column, type_text: str, name: bytes, undecodable: Callable[[], None]
) -> ColumnPlan | None:
    storage = storage_of(column)
    kind, digits, extra = _kind(column, type_text, storage, undecodable)
    if kind is None:
        return None
    return ColumnPlan(
        kind,
        *_stored(storage),
        column.nullable,
        column.type in _BY_TEXT,
        digits,
        column.scale,
        name,
        extra,
    )


def _kind(
    column: Column, type_text: str, storage: Storage, undecodable: Callable[[], None]
) -> tuple[Kind | None, int, Extra]:
    """Return the kind, its digits (fraction, precision, bits, labels or padded length) and its
    printing data.
    """
    zero_filled = "zerofill" in type_text.lower()
    if column.type in INTEGERS and not zero_filled:
        return (Kind.UNSIGNED if column.unsigned else Kind.SIGNED), 0, None
    if column.type is ColumnType.NEWDECIMAL and not zero_filled:
        return Kind.DECIMAL, column.length, None
    if column.type in _PLAIN:
        return _PLAIN[column.type], column.length, None
    if column.type in _LABELLED and column.labels:
        return (
            _LABELLED[column.type],
            len(column.labels),
            tuple(orjson.dumps(label)[1:-1] for label in column.labels),
        )
    if column.type is ColumnType.JSON:
        return Kind.JSON, 0, _printed_by(storage, exact_text(column, type_text, undecodable))
    if column.type in _BYTES:
        return Kind.BASE64, 0, None
    if column.type in _STRINGS:
        return _string_kind(column, type_text, storage, undecodable)
    return _other(column, type_text, storage, undecodable)


def _string_kind(
    column: Column, type_text: str, storage: Storage, undecodable: Callable[[], None]
) -> tuple[Kind | None, int, Extra]:
    if named_bytes(column, type_text) is not None:
        return _other(column, type_text, storage, undecodable)
    if column.charset == "binary" or (column.charset is None and column.type in _BLOBS):
        return Kind.BASE64, (column.length if column.type is ColumnType.STRING else 0), None
    if column.charset is not None and is_utf8(column.charset):
        return Kind.UTF8, 0, None
    characters = byte_characters(column.charset or "")
    if characters is not None:
        return (
            Kind.TABLE,
            0,
            tuple(None if one is None else orjson.dumps(one)[1:-1] for one in characters),
        )
    return _other(column, type_text, storage, undecodable)


def _other(
    column: Column, type_text: str, storage: Storage, undecodable: Callable[[], None]
) -> tuple[Kind | None, int, Extra]:
    """Return the kind, width and function of a column whose values the readable packages print.
    None for a compressed column, because equal values may differ in bytes.
    """
    if column.type in (ColumnType.BLOB_COMPRESSED, ColumnType.VARCHAR_COMPRESSED):
        return None, 0, None
    text = exact_text(column, type_text, undecodable)
    kind = (
        _FLOATING.get(column.type, Kind.OTHER) if fixed_decimals(type_text) is None else Kind.OTHER
    )
    return kind, 0, _printed_by(storage, text)


def _printed_by(storage: Storage, text: Callable[..., str]) -> Callable[[bytes], str]:
    match storage:
        case Unpacked(_, code):
            unpack = struct.Struct(code).unpack
            return lambda piece: text(unpack(piece)[0])
        case Fixed(_, read):
            return lambda piece: text(_value(lambda raw: read(raw, 0), piece))
        case Prefixed(_, None):
            return text
        case Prefixed(_, convert):
            return lambda piece: (
                text(_value(convert, piece)) if convert is not None else text(piece)
            )


def _value(read: Callable[[bytes], Value], piece: bytes) -> Value:
    """Return the value in a piece of an event. Raises Malformed if it holds none."""
    try:
        return read(piece)
    except (IndexError, struct.error) as exc:
        raise Malformed("it holds no such value, or ends too early") from exc
