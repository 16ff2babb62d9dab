"""Decodes a column's bytes in the result of a SELECT into the value that a row event would have.
Pure.

The connection must use UTC, and must not convert characters (character_set_results = NULL).
"""

import json
import struct
from collections.abc import Callable
from ipaddress import IPv6Address
from typing import Final, TypeAlias

from relay.model.names.quoted_name import quoted
from relay.model.value import JsonDocument, JsonScalar, JsonScalarKind, Value
from relay.schema.history.described import DescribedColumn

ReadValue: TypeAlias = Callable[[bytes], Value]

_SINGLE: Final = struct.Struct("<f")
_WHOLE: Final = frozenset({"tinyint", "smallint", "mediumint", "int", "bigint", "year"})
_TEMPORAL: Final = frozenset({"date", "time", "datetime", "timestamp"})


def column_sql(column: DescribedColumn) -> str:
    """Return the SQL that selects a column. `value_reader` decodes its result.

    FLOAT and DOUBLE are multiplied by 1: a product shows all digits and keeps the sign of zero.
    """
    name = quoted(column.name)
    match column.kind:
        case "float" | "double":
            return f"{name} * 1E0"
        case "enum" | "set":
            return f"CAST({name} AS UNSIGNED)"
        case "uuid" | "inet4" | "inet6":
            return f"CAST({name} AS CHAR)"
        case _:
            return name


def value_reader(column: DescribedColumn) -> ReadValue:
    """Return the function that decodes a result of `column_sql` into the value of a row event."""
    if column.kind in _WHOLE:
        return int
    if column.kind in _TEMPORAL:
        return _text
    return _READERS.get(column.kind, bytes)


def _text(raw: bytes) -> str:
    return raw.decode("ascii")


def _single(raw: bytes) -> float:
    number: float = _SINGLE.unpack(_SINGLE.pack(float(raw)))[0]
    return number


def _decimal(raw: bytes) -> str:
    """Return the number without the zeros of ZEROFILL, which row events do not contain."""
    text = raw.decode("ascii")
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    whole, point, fraction = digits.partition(".")
    return f"{sign}{whole.lstrip('0') or '0'}{point}{fraction}"


def _bits(raw: bytes) -> int:
    return int.from_bytes(raw, "big")


def unpadded(raw: bytes) -> bytes:
    """Return a BINARY value as row events contain it: without its trailing zero bytes."""
    return raw.rstrip(b"\0")


def _number(text: str) -> JsonScalar:
    return JsonScalar(JsonScalarKind.DECIMAL, text)


def _json(raw: bytes) -> JsonDocument:
    """Return the document with its numbers as the server printed them."""
    return JsonDocument(json.loads(raw, parse_int=_number, parse_float=_number))


def _uuid(raw: bytes) -> bytes:
    return unpadded(bytes.fromhex(raw.decode("ascii").replace("-", "")))


def _inet4(raw: bytes) -> bytes:
    return unpadded(bytes(map(int, raw.split(b"."))))


def _inet6(raw: bytes) -> bytes:
    return unpadded(IPv6Address(raw.decode("ascii")).packed)


_READERS: Final[dict[str, ReadValue]] = {
    "bit": _bits,
    "enum": int,
    "set": int,
    "float": _single,
    "double": float,
    "decimal": _decimal,
    "binary": unpadded,
    "json": _json,
    "uuid": _uuid,
    "inet4": _inet4,
    "inet6": _inet6,
}

PLAIN_READERS: Final[frozenset[ReadValue]] = frozenset(
    {int, _text, bytes, _bits, _single, float, _decimal, unpadded}
)
"""Decoders after which a result cell is a value of the row without further conversion."""
