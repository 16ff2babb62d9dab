"""Parses MySQL's binary JSON into a JsonDocument (MySQL source: sql-common/json_binary.h).

A value is a type byte and a body. Objects and arrays have entries whose offsets count from the
start of their body; "small" ones use two-byte numbers, "large" ones four bytes. In a valid
document, each byte belongs to one value. The reader counts the bytes that its values use, so a
document whose values overlap cannot make it grow without limit.
"""

import struct
from base64 import encodebytes
from typing import Final

from relay.decode.values.decimals import decimal_bytes, decimal_reader
from relay.decode.values.malformed import Malformed
from relay.decode.values.temporal_text import packed_datetime_text, packed_time_text
from relay.model.table import ColumnType
from relay.model.value import JsonDocument, JsonNode, JsonScalar, JsonScalarKind

# The server's own limit (JSON_DOCUMENT_MAX_DEPTH).
MAX_DEPTH: Final = 100

_SMALL_OBJECT, _LARGE_OBJECT, _SMALL_ARRAY, _LARGE_ARRAY = 0x00, 0x01, 0x02, 0x03
_LITERAL, _INT16, _UINT16, _INT32, _UINT32, _INT64, _UINT64 = (
    0x04,
    0x05,
    0x06,
    0x07,
    0x08,
    0x09,
    0x0A,
)
_DOUBLE, _STRING, _OPAQUE = 0x0B, 0x0C, 0x0F
_LITERALS: Final[dict[int, JsonNode]] = {0x00: None, 0x01: True, 0x02: False}
_SIGNED_BYTES: Final = {_INT16: 2, _INT32: 4, _INT64: 8}
_UNSIGNED_BYTES: Final = {_UINT16: 2, _UINT32: 4, _UINT64: 8}
_INLINED_SMALL: Final = frozenset({_LITERAL, _INT16, _UINT16})
_INLINED_LARGE: Final = _INLINED_SMALL | {_INT32, _UINT32}
_DOUBLE_FORMAT: Final = struct.Struct("<d")
_MAX_LENGTH_BYTES: Final = 5


def parse_json(data: bytes) -> JsonDocument:
    """Return the document in `data`. Without any bytes it is JSON's null, as on the server."""
    if not data:
        return JsonDocument(None)
    return JsonDocument(_Reader(data).value(data[0], 1, len(data), 0))


class _Reader:
    """Reads one document. `unclaimed` is the number of bytes that belong to no value so far."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._unclaimed = len(data)

    def value(self, kind: int, start: int, end: int, depth: int) -> JsonNode:
        """Return the value of type `kind` whose body begins at `start` and ends before `end`."""
        if kind in (_SMALL_OBJECT, _LARGE_OBJECT):
            return self._object(start, end, 4 if kind == _LARGE_OBJECT else 2, depth + 1)
        if kind in (_SMALL_ARRAY, _LARGE_ARRAY):
            return self._array(start, end, 4 if kind == _LARGE_ARRAY else 2, depth + 1)
        return self._scalar(kind, start, end)

    def _take(self, start: int, size: int, end: int) -> bytes:
        if start + size > end:
            raise Malformed(f"a JSON value needs {size} bytes where {max(0, end - start)} are left")
        self._unclaimed -= size
        if self._unclaimed < 0:
            raise Malformed("JSON values overlap")
        return self._data[start : start + size]

    def _number(self, start: int, width: int, end: int) -> int:
        return int.from_bytes(self._take(start, width, end), "little")

    def _head(self, start: int, end: int, width: int, depth: int) -> tuple[int, int]:
        """Return (number of elements, end) of an object or array."""
        if depth > MAX_DEPTH:
            raise Malformed(f"JSON is nested deeper than {MAX_DEPTH}")
        count = self._number(start, width, end)
        size = self._number(start + width, width, end)
        if start + size > end:
            raise Malformed(f"a JSON container of {size} bytes does not fit into {end - start}")
        return count, start + size

    def _array(self, start: int, end: int, width: int, depth: int) -> JsonNode:
        count, end = self._head(start, end, width, depth)
        entries = start + 2 * width
        step = 1 + width
        return [self._entry(start, entries + i * step, end, width, depth) for i in range(count)]

    def _object(self, start: int, end: int, width: int, depth: int) -> JsonNode:
        count, end = self._head(start, end, width, depth)
        keys = start + 2 * width
        key_step, step = width + 2, 1 + width
        values = keys + count * key_step
        members: dict[str, JsonNode] = {}
        for i in range(count):
            key = self._key(start, keys + i * key_step, end, width)
            if key in members:
                raise Malformed(f"the JSON key {key!r} appears twice")
            members[key] = self._entry(start, values + i * step, end, width, depth)
        return members

    def _key(self, start: int, entry: int, end: int, width: int) -> str:
        offset = self._number(entry, width, end)
        size = self._number(entry + width, 2, end)
        return _text(self._take(start + offset, size, end))

    def _entry(self, start: int, entry: int, end: int, width: int, depth: int) -> JsonNode:
        kind = self._number(entry, 1, end)
        inlined = _INLINED_LARGE if width == 4 else _INLINED_SMALL
        if kind in inlined:
            return self._scalar(kind, entry + 1, min(entry + 1 + width, end))
        return self.value(kind, start + self._number(entry + 1, width, end), end, depth)

    def _scalar(self, kind: int, start: int, end: int) -> JsonNode:
        if (width := _SIGNED_BYTES.get(kind)) is not None:
            return int.from_bytes(self._take(start, width, end), "little", signed=True)
        if (width := _UNSIGNED_BYTES.get(kind)) is not None:
            return JsonScalar(JsonScalarKind.UNSIGNED, str(self._number(start, width, end)))
        if kind == _LITERAL:
            return self._literal(self._number(start, 1, end))
        if kind == _DOUBLE:
            number: float = _DOUBLE_FORMAT.unpack(self._take(start, 8, end))[0]
            return number
        if kind == _STRING:
            return _text(self._sized(start, end))
        if kind == _OPAQUE:
            return _opaque(self._number(start, 1, end), self._sized(start + 1, end))
        raise Malformed(f"the JSON type {kind} is unknown")

    def _literal(self, code: int) -> JsonNode:
        if code not in _LITERALS:
            raise Malformed(f"the JSON literal {code} is unknown")
        return _LITERALS[code]

    def _sized(self, start: int, end: int) -> bytes:
        """Return the bytes after their length, which has seven bits in each byte, the low ones
        first.
        """
        size = 0
        for i in range(_MAX_LENGTH_BYTES):
            byte = self._number(start + i, 1, end)
            size |= (byte & 0x7F) << (7 * i)
            if byte < 0x80:
                return self._take(start + i + 1, size, end)
        raise Malformed("a JSON length has no last byte")


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as exc:
        raise Malformed(f"a JSON string is not UTF-8: {raw[:32].hex()}") from exc


def _opaque(field_type: int, raw: bytes) -> JsonScalar:
    """Return a value that MySQL stores in the form of a column type.

    `text` is the value as MySQL prints it. Types that it prints as base64 keep their raw bytes.
    """
    if field_type == ColumnType.NEWDECIMAL:
        return JsonScalar(JsonScalarKind.DECIMAL, _decimal(raw))
    if field_type in _TEMPORAL_KINDS:
        return JsonScalar(_TEMPORAL_KINDS[field_type], _temporal(field_type, raw))
    encoded = encodebytes(raw).decode("ascii").removesuffix("\n")
    return JsonScalar(JsonScalarKind.OPAQUE, f"base64:type{field_type}:{encoded}", raw, field_type)


_TEMPORAL_KINDS: Final[dict[int, JsonScalarKind]] = {
    ColumnType.DATE: JsonScalarKind.DATE,
    ColumnType.TIME: JsonScalarKind.TIME,
    ColumnType.DATETIME: JsonScalarKind.DATETIME,
    ColumnType.TIMESTAMP: JsonScalarKind.TIMESTAMP,
}


def _decimal(raw: bytes) -> str:
    if len(raw) < 2:
        raise Malformed("a JSON decimal without precision and scale")
    precision, scale = raw[0], raw[1]
    if len(raw) != 2 + decimal_bytes(precision, scale):
        raise Malformed(f"a JSON DECIMAL({precision},{scale}) in {len(raw) - 2} bytes")
    return decimal_reader(precision, scale)(raw, 2)


def _temporal(field_type: int, raw: bytes) -> str:
    if len(raw) != 8:
        raise Malformed(f"a JSON temporal value of {len(raw)} bytes")
    packed = int.from_bytes(raw, "little", signed=True)
    try:
        if field_type == ColumnType.TIME:
            return packed_time_text(packed)
        return packed_datetime_text(packed, date_only=field_type == ColumnType.DATE)
    except IndexError as exc:
        raise Malformed(f"a JSON temporal value of {packed:#x}") from exc
