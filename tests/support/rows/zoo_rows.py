"""One canonical text per cell, from what the server prints and from what the decoder returns, so
that both can be compared.
"""

import re
import struct
from collections.abc import Sequence
from typing import Any, TypeAlias

import orjson

from relay.model.change import RowsEvent
from relay.model.table import Column, ColumnType
from relay.model.value import ABSENT, JsonDocument, JsonNode, JsonScalar, JsonScalarKind, Row, Value

Cell: TypeAlias = "str | None"
CanonicalRow: TypeAlias = "dict[str, Cell]"
# Column name → its entry in information_schema.
Declared: TypeAlias = "dict[str, dict[str, Any]]"

_GEOMETRIES = ("geom", "point", "line", "polygon", "multi")
_DIGITS = re.compile(r"\(\d+,(\d+)\)")
_QUOTED = (
    JsonScalarKind.DATE,
    JsonScalarKind.TIME,
    JsonScalarKind.DATETIME,
    JsonScalarKind.TIMESTAMP,
    JsonScalarKind.OPAQUE,
)


def canonical_truth(cell: dict[str, str | None] | None, column: dict[str, Any]) -> Cell:
    """Return the canonical text of a cell of a truth file."""
    if cell is None:
        return None
    kind: str = column["type"]
    if kind.startswith("enum"):
        return cell["num"]
    if kind.startswith(_GEOMETRIES) or ("hex" in cell and not kind.startswith("bit")):
        return cell["hex"]
    text = cell["text"] or ""
    if kind.startswith("float"):
        return _single(float(cell["num"] or ""))
    if kind.startswith("double"):
        return _double(float(text), kind)
    if "zerofill" in kind:
        text = text.lstrip("0")
        return text if text and text[0] != "." else f"0{text}"
    return text


def canonical_row(row: Row, columns: Sequence[Column], declared: Declared) -> CanonicalRow:
    """Return the canonical texts of the columns that the image holds."""
    named = zip(columns, row, strict=True)
    return {
        c.name: canonical_value(value, c, declared[c.name]["type"])
        for c, value in named
        if value is not ABSENT
    }


def canonical_value(value: Value, column: Column, declared: str) -> Cell:
    """Return the canonical text of a decoded value."""
    match value:
        case None:
            return None
        case bytes():
            # BINARY is logged without its trailing zeros.
            padded = column.type is ColumnType.STRING and column.charset == "binary"
            return (value.ljust(column.length, b"\0") if padded else value).hex().upper()
        case JsonDocument(root):
            return json_text(root)
        case float():
            return _single(value) if column.type is ColumnType.FLOAT else _double(value, declared)
        case int() if column.type is ColumnType.SET:
            return ",".join(label for bit, label in enumerate(column.labels) if value >> bit & 1)
        case int() if column.type is ColumnType.YEAR:
            return f"{value:04d}"
    return str(value)


def json_text(node: JsonNode) -> str:
    """Return a document as MySQL prints it."""
    match node:
        case dict():
            return (
                "{"
                + ", ".join(
                    f"{json_text(key)}: {json_text(member)}" for key, member in node.items()
                )
                + "}"
            )
        case list():
            return "[" + ", ".join(map(json_text, node)) + "]"
        case JsonScalar(kind, text):
            return orjson.dumps(text).decode() if kind in _QUOTED else text
    return orjson.dumps(node).decode()


def _double(number: float, declared: str) -> str:
    """Return DOUBLE(M,D) with its D digits, which the binlog does not know.

    MariaDB 11 keeps the sign of zero, 10 does not.
    """
    digits = _DIGITS.search(declared)
    return f"{number + 0.0:.{digits[1]}f}" if digits else repr(number + 0.0)


def _single(number: float) -> str:
    """Compare FLOAT by its four bytes, as the server prints only six digits of it.

    For the sign of zero see `_double`.
    """
    return struct.pack("<f", number + 0.0).hex()


def apply(event: RowsEvent, rows: list[CanonicalRow], declared: Declared) -> None:
    """Apply the changes of `event` to `rows`; each changed or deleted row must exist."""
    columns = event.table.columns
    for change in event.rows:
        old: CanonicalRow = dict.fromkeys(c.name for c in columns)
        if change.before is not None:
            wanted = canonical_row(change.before, columns, declared)
            old = next(row for row in rows if wanted.items() <= row.items())
            rows.remove(old)
        if change.after is not None:
            rows.append({**old, **canonical_row(change.after, columns, declared)})
