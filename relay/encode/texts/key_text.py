"""Prints key columns: different values have different texts, even where the message prints them
alike.
"""

from collections.abc import Callable
from typing import Any

from relay.encode.columns import ColumnText
from relay.encode.texts.text_exact import base64_text, exact_text
from relay.errors import ValueNotPrintable
from relay.model.column_families import STRINGS
from relay.model.number_form import single_text
from relay.model.table import Column, ColumnType
from relay.model.value import Value

KeyText = Callable[[Any], object]
"""Prints a value as its text in the JSON of a key."""


def key_text(column: Column, type_text: str, undecodable: Callable[[], None]) -> KeyText:
    """Return the printer of a key column: the exact text, except for two kinds of values. A
    FLOAT has enough digits to restore the same 32 bits, at least the six of a message. Bytes
    that are invalid in the column's character set are an object `{"base64": ...}`, which no text
    equals; `undecodable` is called for them.
    """
    if column.type not in STRINGS:
        return whole_text(column, type_text, undecodable)
    return _text_or_bytes(exact_text(column, type_text, refuse_undecodable), undecodable)


def whole_text(column: Column, type_text: str, undecodable: Callable[[], None]) -> ColumnText:
    """Return the printer of the exact text; a FLOAT has all digits that distinguish it from others.

    A mask hashes key columns by this text (ADR 47).
    """
    if column.type is ColumnType.FLOAT:
        return single_text
    return exact_text(column, type_text, undecodable)


def refuse_undecodable() -> None:
    """Raise ValueNotPrintable for a value with bytes that are invalid in its character set."""
    raise ValueNotPrintable(
        "A key has bytes that are not characters of the column's character set."
    )


def _text_or_bytes(strict: ColumnText, undecodable: Callable[[], None]) -> KeyText:
    def text(value: Value) -> object:
        try:
            return strict(value)
        except ValueNotPrintable:
            if not isinstance(value, bytes):
                raise
            undecodable()
            return {"base64": base64_text(value)}

    return text
