"""Builds SQL expressions for a source: the exact text of messages for a column, the literal that
equals a key value, and the text of a range's boundary.
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
"""A character set, and the hexadecimal digits of a text in it: the form of a boundary."""


def message_text(column: SourceColumn) -> str:
    """Return the SQL of the text that a message in the exact style has for the column; NULL stays
    NULL.
    """
    name = quoted(column.name)
    if column.kind in LONG_BYTES | BYTES:
        return f"REPLACE(TO_BASE64({name}), CHAR(10 USING utf8mb4), '')"
    return plain_text(column) if column.kind not in TEXTS else f"CONVERT({name} USING utf8mb4)"


def plain_text(column: SourceColumn) -> str:
    """Return the SQL of the text that the server prints for a value that is neither characters nor
    bytes.
    """
    name = quoted(column.name)
    return (
        f"CAST(CAST({name} AS UNSIGNED) AS CHAR)"
        if column.kind == "bit"
        else f"CAST({name} AS CHAR)"
    )


def whole_single(column: SourceColumn) -> str:
    """Return the SQL of a text with all digits of a FLOAT.

    It is a product with 1, which keeps the sign of zero; a sum with 0 does not.
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

    Labels of ENUM and SET compare as texts but sort as numbers, so they are converted to texts for
    both.
    """
    name = quoted(column.name)
    return f"CONVERT({name} USING utf8mb4) COLLATE utf8mb4_bin" if column.kind in LABELS else name


def boundary_text(column: SourceColumn) -> str:
    """Return the SQL of the text from which `literal` restores the value.

    Characters are written as the bytes of their own character set. Some sets have bytes without a
    character, or two codes of one character. After a conversion such a value would be another one,
    and rows between the two would be read twice or never.
    """
    if column.kind in TEXTS:
        charset = _charset_of_key(column)
        if charset == _UTF8:
            return f"HEX(CONVERT({quoted(column.name)} USING utf8mb4))"
        return f"CONCAT('{charset}:', HEX({quoted(column.name)}))"
    if (
        column.kind == SINGLE
        # The server's text has fewer digits than the value, so a range might begin before the end
        # of the one before it.
    ):
        return f"CAST({quoted(column.name)} + 0E0 AS CHAR)"
    return f"HEX({quoted(column.name)})" if column.kind in BYTES else plain_text(column)


def literal(column: SourceColumn, text: str) -> str:
    """Return the SQL literal with which a key column is compared; `text` is a result of
    `boundary_text`.

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
    """Return the character set of a boundary's bytes: utf8mb4 for labels, which were converted to
    it.
    """
    charset, named, _ = column.collation.partition("_")
    return _UTF8 if column.kind in LABELS or not named or charset in _SAME_IN_UTF8 else charset


def names_charset(text: str) -> bool:
    """Return whether a boundary's text names the character set of its bytes."""
    return _BYTES_OF_SET.fullmatch(text) is not None


def _charset_and_digits(text: str) -> tuple[str, str]:
    """Return (character set, hexadecimal digits) of a boundary's text. One without a character set
    is in UTF-8.
    """
    found = _BYTES_OF_SET.fullmatch(text)
    return (found[1], found[2]) if found else (_UTF8, text)


def key_equals(key: Sequence[SourceColumn], texts: Sequence[str]) -> str:
    """Return the SQL condition for the row with this key; `texts` are from `boundary_text`."""
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
