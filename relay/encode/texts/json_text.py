"""Prints MySQL's JSON documents as the server does, and as Canal does."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from relay.encode.texts.java_numbers import java_double
from relay.encode.texts.java_utf8 import java_utf8
from relay.encode.texts.server_numbers import double_text
from relay.encode.trailing_group import without_empty_group
from relay.model.value import JsonDocument, JsonNode, JsonScalar, JsonScalarKind

_SHORT_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LONG_ESCAPES: Final = {chr(code): f"\\u{code:04x}" for code in range(0x20)}
_SERVER_ESCAPES: Final = str.maketrans(_LONG_ESCAPES | _SHORT_ESCAPES | {"\b": "\\b", "\f": "\\f"})
_CANAL_ESCAPES: Final = str.maketrans(
    _LONG_ESCAPES | _SHORT_ESCAPES | {chr(code): f"\\u{code:04x}" for code in range(0x7F, 0xA1)},
)
_ZERO_MOMENT: Final = "0000-00-00 00:00:00"
_ZERO_TIME: Final = "00:00:00"


@dataclass(frozen=True, slots=True)
class _Style:
    """The differences between the server's JSON text and Canal's."""

    quote: Callable[[str], str]
    double: Callable[[float], str]
    scalar: Callable[[JsonScalar], str]


def server_json(document: JsonDocument) -> str:
    """Return the text of CAST(json AS CHAR)."""
    return _text(document.root, _SERVER)


def canal_json(document: JsonDocument) -> str:
    """Return Canal's text of the document (source of the rule: alibaba/canal, JsonConversion)."""
    return _text(document.root, _CANAL)


def _text(node: JsonNode, style: _Style) -> str:
    if isinstance(node, str):
        return style.quote(node)
    if isinstance(node, dict):
        return (
            "{"
            + ", ".join(
                f"{style.quote(key)}: {_text(member, style)}" for key, member in node.items()
            )
            + "}"
        )
    if isinstance(node, list):
        return "[" + ", ".join(_text(element, style) for element in node) + "]"
    if isinstance(node, JsonScalar):
        return style.scalar(node)
    return _plain(node, style)


def _plain(node: bool | int | float | None, style: _Style) -> str:
    if node is None:
        return "null"
    if isinstance(node, bool):
        return "true" if node else "false"
    return style.double(node) if isinstance(node, float) else str(node)


def _server_quote(text: str) -> str:
    return f'"{text.translate(_SERVER_ESCAPES)}"'


def _server_double(value: float) -> str:
    """Return a double as text. A whole number keeps `.0`, so that readers parse it as a double."""
    text = double_text(value)
    return text if "." in text or "e" in text else f"{text}.0"


def _server_scalar(scalar: JsonScalar) -> str:
    bare = scalar.kind in (JsonScalarKind.DECIMAL, JsonScalarKind.UNSIGNED)
    return scalar.text if bare else _server_quote(scalar.text)


def _canal_quote(text: str) -> str:
    return f'"{text.translate(_CANAL_ESCAPES)}"'


def _canal_scalar(scalar: JsonScalar) -> str:
    match scalar.kind:
        case JsonScalarKind.UNSIGNED:
            return scalar.text
        case JsonScalarKind.DECIMAL:
            return without_empty_group(scalar.text)
        case JsonScalarKind.TIME:
            return f'"{_canal_time(scalar.text)}"'
        case JsonScalarKind.DATE:
            return f'"{_canal_moment(f"{scalar.text} 00:00:00.000000")}"'
        case JsonScalarKind.DATETIME | JsonScalarKind.TIMESTAMP:
            return f'"{_canal_moment(scalar.text)}"'
        case JsonScalarKind.OPAQUE:
            return _canal_quote(java_utf8(scalar.raw))


def _canal_time(text: str) -> str:
    """Return Canal's text of a TIME. Zero has no fraction, and exactly 100 hours lose their first
    digit.
    """
    if text.startswith(_ZERO_TIME) and not text.strip("0:."):
        return _ZERO_TIME
    sign = "-" if text.startswith("-") else ""
    hours, _, rest = text.removeprefix("-").partition(":")
    return f"{sign}{'00' if hours == '100' else hours}:{rest}"


def _canal_moment(text: str) -> str:
    return _ZERO_MOMENT if not text.strip("0-: .") else text


_SERVER: Final = _Style(_server_quote, _server_double, _server_scalar)
_CANAL: Final = _Style(_canal_quote, java_double, _canal_scalar)
