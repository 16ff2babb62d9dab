"""Values of a source as SQL: the exact text of the messages, the literal that compares with a
column, the text that ranges are kept in.
"""

import re
import struct
from collections.abc import Sequence
from typing import Final

from relay.model.names.quoted_name import quoted
from relay.model.source_rows.columns import (
    APPROXIMATE,
    BYTES,
    LABELS,
    LONG_BYTES,
    SINGLE,
    TEXTS,
    WHOLE,
    SourceColumn,
)

_SINGLE_FORM: Final = struct.Struct("<f")
_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_HEX: Final = re.compile(r"([0-9A-F]{2})*", re.ASCII)
_PLAIN: Final = re.compile(r"[0-9A-Fa-f:. -]*", re.ASCII)
_NUMBERS: Final = WHOLE | APPROXIMATE | {"decimal"}
_UTF8: Final = "utf8mb4"
_SAME_IN_UTF8: Final = frozenset({"utf8", "utf8mb3", _UTF8})
_BYTES_OF_SET: Final = re.compile(r"([a-z0-9]+):((?:[0-9A-F]{2})*)", re.ASCII)
"""A character set and the hexadecimal digits of a text in it."""


def message_text(column: SourceColumn) -> str:
    """SQL of the text that a message has for the column in the exact style; NULL stays NULL."""
    name = quoted(column.name)
    if column.kind in LONG_BYTES | BYTES:
        return f"REPLACE(TO_BASE64({name}), CHAR(10 USING utf8mb4), '')"
    return plain_text(column) if column.kind not in TEXTS else f"CONVERT({name} USING utf8mb4)"


def plain_text(column: SourceColumn) -> str:
    """SQL of the text that the server prints for a value that is neither characters nor bytes."""
    name = quoted(column.name)
    return (
        f"CAST(CAST({name} AS UNSIGNED) AS CHAR)"
        if column.kind == "bit"
        else f"CAST({name} AS CHAR)"
    )


def whole_single(column: SourceColumn) -> str:
    """SQL of the text of all digits of a FLOAT.

    A product keeps the sign of zero, which a sum does not.
    """
    return f"CAST({quoted(column.name)} * 1E0 AS CHAR)"


def single_value(text: str) -> float:
    """Return the FLOAT of a text that `whole_single` returned.

    MySQL's text of a DOUBLE may lack its last digits, but none that a FLOAT has.
    """
    value: float = _SINGLE_FORM.unpack(_SINGLE_FORM.pack(float(text)))[0]
    return value


def key_expression(column: SourceColumn) -> str:
    """Return the SQL expression by which a key column is compared and sorted.

    Labels compare as text and sort as numbers, so text is used for both.
    """
    name = quoted(column.name)
    return f"CONVERT({name} USING utf8mb4) COLLATE utf8mb4_bin" if column.kind in LABELS else name


def boundary_text(column: SourceColumn) -> str:
    """Return the SQL expression of the text from which `literal` restores the value.

    Characters keep the bytes of their own set. Some sets have bytes that are no character, or two
    codes of one character: a value that was converted and back would be another one, so rows
    between the two would be read twice or never.
    """
    if column.kind in TEXTS:
        charset = _charset_of_key(column)
        if charset == _UTF8:
            return f"HEX(CONVERT({quoted(column.name)} USING utf8mb4))"
        return f"CONCAT('{charset}:', HEX({quoted(column.name)}))"
    if (
        column.kind == SINGLE
        # its own text has fewer digits than its value, so that a range might begin before its own
        # end
    ):
        return f"CAST({quoted(column.name)} + 0E0 AS CHAR)"
    return f"HEX({quoted(column.name)})" if column.kind in BYTES else plain_text(column)


def literal(column: SourceColumn, text: str) -> str:
    """Return the literal that compares with a key column; `text` is a result of `boundary_text`.

    Raises ValueError for other texts.
    """
    if column.kind in _NUMBERS:
        return _checked(_NUMBER, text, column)
    if column.kind in TEXTS:
        charset, digits = _charset_and_digits(text)
        return f"_{charset} X'{_checked(_HEX, digits, column)}'"
    if column.kind in BYTES:
        return f"X'{_checked(_HEX, text, column)}'"
    return f"'{_checked(_PLAIN, text, column)}'"


def _charset_of_key(column: SourceColumn) -> str:
    """Return the character set of a boundary's bytes; utf8mb4 for labels, which are converted."""
    charset, named, _ = column.collation.partition("_")
    return _UTF8 if column.kind in LABELS or not named or charset in _SAME_IN_UTF8 else charset


def _charset_and_digits(text: str) -> tuple[str, str]:
    """Split a boundary's text; one without a character set has the bytes of UTF-8."""
    found = _BYTES_OF_SET.fullmatch(text)
    return (found[1], found[2]) if found else (_UTF8, text)


def key_equals(key: Sequence[SourceColumn], texts: Sequence[str]) -> str:
    """SQL that holds for the one row with this key; `texts` as `boundary_text` gives them."""
    return " AND ".join(
        f"{_comparable(column)} = {_equal_to(column, text)}"
        for column, text in zip(key, texts, strict=True)
    )


def _comparable(column: SourceColumn) -> str:
    return plain_text(column) if column.kind in APPROXIMATE else key_expression(column)


def _equal_to(column: SourceColumn, text: str) -> str:
    return (
        f"'{_checked(_NUMBER, text, column)}'"
        if column.kind in APPROXIMATE
        else literal(column, text)
    )


def _checked(form: re.Pattern[str], text: str, column: SourceColumn) -> str:
    if form.fullmatch(text) is None:
        raise ValueError(
            f"{text!r} is not a value of key column {column.name} ({column.type_text})"
        )
    return text
