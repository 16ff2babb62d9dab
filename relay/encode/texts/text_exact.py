"""Prints values in the exact style: the text that the server prints, and bytes as base64.

The binlog does not contain ZEROFILL, the decimals of FLOAT(M,D) and DOUBLE(M,D), or whether bytes
are MariaDB's UUID or INET. They are printed correctly if the type text shows them.
"""

import re
from binascii import b2a_base64
from collections.abc import Callable
from typing import Final

from relay.charsets import decoder, lenient_decoder
from relay.encode.columns import ColumnText, is_bytes
from relay.encode.texts.json_text import server_json
from relay.encode.texts.named_bytes import named_bytes
from relay.encode.texts.server_numbers import double_text, fixed_decimals, fixed_text, float_text
from relay.errors import SchemaMismatch, ValueNotPrintable
from relay.model.column_families import BLOBS, DECIMALS, STRINGS
from relay.model.table import Column, ColumnType

# Display width of an unsigned integer that was declared without one (MySQL manual, Numeric Type
# Attributes).
_INTEGER_WIDTHS: Final = {
    ColumnType.TINY: 3,
    ColumnType.SHORT: 5,
    ColumnType.INT24: 8,
    ColumnType.LONG: 10,
    ColumnType.LONGLONG: 20,
}
_WIDTH: Final = re.compile(r"\w+\s*\(\s*(\d+)\s*\)")
_NO_METADATA: Final = "Set binlog_row_metadata=FULL on the source."


def exact_text(column: Column, type_text: str, undecodable: Callable[[], None]) -> ColumnText:
    """Return the printer of a column.

    `undecodable` is called for each value with bytes that are invalid in its character set. Raises
    SchemaMismatch if the column's character set or labels are unknown.
    """
    if (text := named_bytes(column, type_text)) is not None:
        return text
    if column.type in STRINGS:
        return _string_text(column, undecodable)
    if "zerofill" in type_text.lower() and (
        column.type in _INTEGER_WIDTHS or column.type in DECIMALS
    ):
        return _zero_filled(column, type_text)
    match column.type:
        case ColumnType.FLOAT | ColumnType.DOUBLE:
            return _number_text(column, type_text)
        case ColumnType.YEAR:
            return "{:04d}".format
        case ColumnType.ENUM:
            return _enum_text(column)
        case ColumnType.SET:
            return _set_text(column)
        case ColumnType.JSON:
            return server_json
        case ColumnType.GEOMETRY | ColumnType.VECTOR:
            return base64_text
    return str


def base64_text(raw: bytes) -> str:
    """Return base64 (RFC 4648, with padding, one line)."""
    return b2a_base64(raw, newline=False).decode("ascii")


def _number_text(column: Column, type_text: str) -> ColumnText:
    decimals = fixed_decimals(type_text)
    if decimals is not None:
        return fixed_text(decimals)
    return float_text if column.type == ColumnType.FLOAT else double_text


def _zero_filled(column: Column, type_text: str) -> ColumnText:
    """Return a printer that adds zeros up to the declared width. A DECIMAL(M,D) has M digits, a
    point, and no sign.
    """
    if column.type in DECIMALS:
        places = column.length + (1 if column.scale else 0)
    else:
        width = _WIDTH.match(type_text)
        places = int(width[1]) if width else _INTEGER_WIDTHS[column.type]
    return lambda value: str(value).zfill(places)


def _string_text(column: Column, undecodable: Callable[[], None]) -> ColumnText:
    if is_bytes(column) or (column.charset is None and column.type in BLOBS):
        return _padded_base64(column.length) if column.type == ColumnType.STRING else base64_text
    strict, lenient = decoder(column.charset or ""), lenient_decoder(column.charset or "")
    if strict is None or lenient is None:
        raise SchemaMismatch(
            f"The character set {column.charset!r} of column {column.name!r} is not known.",
            remedy=_NO_METADATA,
        )
    return _decoded(strict, lenient, undecodable)


def _decoded(
    strict: ColumnText, lenient: ColumnText, undecodable: Callable[[], None]
) -> ColumnText:
    def text(raw: bytes) -> str:
        try:
            return strict(raw)
        except UnicodeDecodeError:
            undecodable()
            return lenient(raw)

    return text


def _padded_base64(length: int) -> ColumnText:
    """Return a printer that first adds the trailing zero bytes of a BINARY(n), which the binlog
    omits.
    """
    return lambda raw: base64_text(raw.ljust(length, b"\0"))


def _enum_text(column: Column) -> ColumnText:
    labels = ("", *_labels(column))

    def text(index: int) -> str:
        if index >= len(labels):
            raise ValueNotPrintable(
                f"Column {column.name!r} has {len(labels) - 1} labels, and a row holds number "
                f"{index}."
            )
        return labels[index]

    return text


def _set_text(column: Column) -> ColumnText:
    labels = _labels(column)

    def text(mask: int) -> str:
        if mask >> len(labels):
            raise ValueNotPrintable(
                f"Column {column.name!r} has {len(labels)} members, and a row holds the mask "
                f"{mask}."
            )
        return ",".join(label for bit, label in enumerate(labels) if mask >> bit & 1)

    return text


def _labels(column: Column) -> tuple[str, ...]:
    if not column.labels:
        raise SchemaMismatch(
            f"The labels of column {column.name!r} are not known.", remedy=_NO_METADATA
        )
    return column.labels
