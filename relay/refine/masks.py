"""Masked columns: their values are hashed, truncated or replaced before a message is encoded."""

import hmac
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final, NamedTuple, TypeAlias

from relay.errors import ConfigurationError, RuleRefused
from relay.model.names.name_pattern import NamePattern
from relay.model.table import Column, ColumnType, TableDefinition
from relay.model.value import ABSENT, Value
from relay.refine.comparable import is_text
from relay.settings import MaskSettings

FEWEST_SALT_CHARACTERS: Final = 16
"""Smallest number of characters in the salt of a hash mask.

Values such as telephone numbers are few, so an attacker could hash all of them. Only a salt that
cannot be guessed protects them.
"""

_HASH_CHARACTERS: Final = 64
_UTF8: Final = "utf8mb4"

TextOf: TypeAlias = Callable[[Column, str, Callable[[], None]], Callable[[Any], str]]
"""Creates the function that prints a column's values as text.

Arguments: the column, its type text, and a function that is called for bytes that are not valid
characters.
"""

Masked: TypeAlias = Callable[[Value], Value]


class MaskedColumn(NamedTuple):
    """A masked column.

    column     the definition of the column in messages
    type_text  its type in messages
    value      the function from a read value to the masked one
    """

    column: Column
    type_text: str
    value: Masked


class Mask:
    """One mask of the settings. Raises ConfigurationError for a salt that is too short."""

    def __init__(self, settings: MaskSettings) -> None:
        self._settings = settings
        self._columns = NamePattern(settings.columns)
        self._salt = b"" if settings.salt is None else settings.salt.get_secret_value().encode()
        if settings.method == "hash" and len(self._salt.decode()) < FEWEST_SALT_CHARACTERS:
            raise ConfigurationError(
                f"The salt of the mask on {settings.columns} has fewer than "
                f"{FEWEST_SALT_CHARACTERS} characters."
            )

    @property
    def fingerprint(self) -> str:
        """Return a text that is equal for equal masks and reveals nothing about the salt."""
        own = self._settings.model_dump_json(exclude={"salt"})
        return hmac.new(self._salt, own.encode(), sha256).hexdigest()

    def masks(self, definition: TableDefinition, column: Column) -> bool:
        """Return whether the mask applies to a column of a real table."""
        return self._columns.matches(f"{definition.id}.{column.name}")

    def on(self, definition: TableDefinition, ordinal: int, text_of: TextOf) -> MaskedColumn:
        """Return the column as it is published.

        Raises RuleRefused if the method does not fit the column: in the key only a hash keeps
        values apart, and only text can be truncated.
        """
        column, type_text = definition.map.columns[ordinal], definition.type_texts[ordinal]
        method = self._settings.method
        if method != "hash" and ordinal in {*definition.key, *definition.map.primary_key}:
            why = "it is part of the key, and only a hash keeps keys apart"
            raise RuleRefused(
                f"The mask {method!r} cannot be applied to {definition.id}.{column.name}: {why}."
            )
        if method == "hash":
            return MaskedColumn(
                _text_column(column, _HASH_CHARACTERS),
                f"varchar({_HASH_CHARACTERS})",
                self._hashed(column, type_text, text_of),
            )
        if method == "replace":
            return self._replaced(column, type_text)
        if not is_text(column):
            raise RuleRefused(
                f"The mask 'truncate' cannot be applied to {definition.id}.{column.name}, which "
                "is not a text column."
            )
        return MaskedColumn(
            _text_column(column, self._settings.length),
            type_text,
            self._truncated(column, type_text, text_of),
        )

    def _hashed(self, column: Column, type_text: str, text_of: TextOf) -> Masked:
        """Return the HMAC-SHA-256 of the text that would have been printed; of the bytes if they
        are not valid characters.
        """
        unreadable: list[bool] = []
        text = text_of(column, type_text, lambda: unreadable.append(True))

        def value(read: Value) -> Value:
            if read is None or read is ABSENT:
                return read
            content = text(read).encode("utf-8", "surrogatepass")
            if unreadable and isinstance(read, bytes):
                unreadable.clear()
                content = b"\xff" + read  # no valid text begins with this byte
            return hmac.digest(self._salt, content, "sha256").hex().encode("ascii")

        return value

    def _truncated(self, column: Column, type_text: str, text_of: TextOf) -> Masked:
        text, length = text_of(column, type_text, lambda: None), self._settings.length

        def value(read: Value) -> Value:
            return (
                read
                if read is None or read is ABSENT
                else text(read)[:length].encode("utf-8", "replace")
            )

        return value

    def _replaced(self, column: Column, type_text: str) -> MaskedColumn:
        """Replace the value.

        NULL is replaced too: that a value is missing also reveals something about a person.
        """
        settings = self._settings
        if settings.value is None:
            nullable = replace(column, nullable=True)
            return MaskedColumn(nullable, type_text, lambda read: read if read is ABSENT else None)
        put = settings.value.encode()
        length = max(1, len(settings.value))
        return MaskedColumn(
            _text_column(column, length),
            f"varchar({length})",
            lambda read: read if read is ABSENT else put,
        )


def first_mask(masks: Sequence[Mask], definition: TableDefinition, column: Column) -> Mask | None:
    """Return the first mask that applies to a column; None if there is none."""
    return next((mask for mask in masks if mask.masks(definition, column)), None)


def _text_column(column: Column, characters: int) -> Column:
    length = characters * 4  # bytes of the longest character
    return Column(
        column.name,
        ColumnType.VARCHAR,
        nullable=column.nullable,
        length=length,
        charset=_UTF8,
        visible=column.visible,
    )
