"""Prints values of key columns. Different values have different texts, even if the message's values
print them alike.
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
    """Return the printer of a key column. It prints the exact text, except for two kinds of values.

    A FLOAT has enough digits for the same 32 bits, and at least six. Bytes that are invalid in the
    column's character set become an object `{"base64": ...}`, which no text equals; `undecodable`
    is called for each.
    """
    if column.type not in STRINGS:
        return whole_text(column, type_text, undecodable)
    return _text_or_bytes(exact_text(column, type_text, refuse_undecodable), undecodable)


def whole_text(column: Column, type_text: str, undecodable: Callable[[], None]) -> ColumnText:
    """Return the printer of the exact text, in which a FLOAT has all digits that distinguish it
    from others.

    A mask hashes key columns by this text (ADR 47).
    """
    if column.type is ColumnType.FLOAT:
        return single_text
    return exact_text(column, type_text, undecodable)


def refuse_undecodable() -> None:
    """Raise ValueNotPrintable. It is the `undecodable` function for keys that must not have invalid
    bytes.
    """
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
