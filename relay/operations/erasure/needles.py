"""The search terms of an erasure: keys of messages, and texts. The functions are pure."""

import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import orjson

from relay.errors import ErasureRefused

_NUMBER: Final = re.compile(r"(-?)\+?(\d+)(?:\.(\d*))?", re.ASCII)
_BYTES: Final = "base64"
"""The field of a key's value whose bytes are not characters of its column's character set."""
LEAST_CHARACTERS: Final = 4
"""Shortest text to search, in characters. A shorter text would match rows of other people."""


@dataclass(frozen=True, slots=True)
class Needles:
    """The search terms: message keys, and texts that each identify the person.

    keys       the keys as in messages
    key_parts  each key in two forms: unchanged, and as it is written inside a JSON string. Its
               brackets and quotes prevent matches inside longer texts
    parts      each text and each key in these two forms
    alike      the keys in a normal form, without differences in spelling
    """

    keys: frozenset[bytes]
    key_parts: tuple[bytes, ...]
    parts: tuple[bytes, ...]
    alike: frozenset[tuple[str, ...]] = frozenset()

    def is_alike(self, key: bytes | None) -> bool:
        """Return whether a record's key is one of the keys in another spelling."""
        return key is not None and key not in self.keys and plain_key(key) in self.alike

    def in_any(self, *values: bytes | None) -> bool:
        """Return whether one of the values contains a searched text or key."""
        return any(part in value for value in values if value for part in self.parts)

    def key_in_any(self, *values: bytes | None) -> bool:
        """Return whether one of the values contains a searched key."""
        return any(part in value for value in values if value for part in self.key_parts)

    def are_in(self, text: str) -> bool:
        """Return whether the text contains a searched text or key."""
        return self.in_any(text.encode())


def read_needles(keys: Iterable[str], texts: Iterable[str]) -> Needles:
    """Return the search terms for the given keys and texts; empty ones are ignored.

    A key is written as in messages: a JSON array of table and values, such as
    `["shop.client","7"]`. Raises ErasureRefused for a key of another form, for short texts, and if
    neither a key nor a text is given.
    """
    found = [line.strip() for line in keys if line.strip()]
    words = [line.strip("\r\n") for line in texts if line.strip()]
    if not found and not words:
        raise ErasureRefused("Neither a key nor a text is given.")
    for number, each in enumerate(found, start=1):
        if not _is_key(each):
            raise ErasureRefused(
                f'Line {number} of the keys is not a message key, such as ["shop.client","7"].'
            )
    for number, each in enumerate(words, start=1):
        if len(each) < LEAST_CHARACTERS:
            raise ErasureRefused(
                f"Line {number} of the texts has fewer than {LEAST_CHARACTERS} characters."
            )
    of_keys = {form for each in found for form in _forms(_as_in_messages(each).decode())}
    parts = of_keys | {form for each in words for form in _forms(each)}
    keys_of_messages = frozenset(map(_as_in_messages, found))
    alike = frozenset(key for each in keys_of_messages if (key := plain_key(each)) is not None)
    return Needles(keys_of_messages, tuple(sorted(of_keys)), tuple(sorted(parts)), alike)


def plain_key(key: bytes) -> tuple[str, ...] | None:
    """Return the values of a message key in a normal form, without differences in spelling; None if
    the bytes are no message key.

    Servers consider texts equal that differ only in case, accents or trailing spaces, and numbers
    that differ only in zeros. Messages have the spelling of the row.
    """
    try:
        values = orjson.loads(key)
    except orjson.JSONDecodeError:
        return None
    return tuple(map(_plain, values)) if isinstance(values, list) else None


def _plain(value: object) -> str:
    """Return a text without case, accents and trailing spaces; for a number, its digits."""
    text = str(value).rstrip()
    if match := _NUMBER.fullmatch(text):
        sign, whole, fraction = match.groups("")
        digits = whole.lstrip("0") or "0"
        rest = fraction.rstrip("0")
        return f"{sign}{digits}.{rest}" if rest else f"{sign if digits != '0' else ''}{digits}"
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(each for each in apart if not unicodedata.combining(each))


def _as_in_messages(key: str) -> bytes:
    """Return a key in the form of messages: without the optional spaces and escapes of JSON."""
    return orjson.dumps(json.loads(key))


def _is_key(line: str) -> bool:
    try:
        value = json.loads(line)
        orjson.dumps(value)
    except (ValueError, TypeError):
        return False
    return isinstance(value, list) and len(value) > 1 and all(map(_is_of_key, value))


def _is_of_key(value: object) -> bool:
    """Return whether a key may have the value: a text, or bytes that are no characters (ADR 47)."""
    if isinstance(value, dict):
        return [*value] == [_BYTES] and isinstance(value[_BYTES], str)
    return isinstance(value, str)


def _forms(text: str) -> Iterable[bytes]:
    """Yield a text unchanged, and as JSON strings with and without escaped letters."""
    yield text.encode()
    yield json.dumps(text)[1:-1].encode()
    yield json.dumps(text, ensure_ascii=False)[1:-1].encode()
