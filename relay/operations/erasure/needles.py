"""The search terms of an erasure: keys of messages, and texts. Pure."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from relay.errors import ErasureRefused

LEAST_CHARACTERS: Final = 4
"""A shorter text would be found in rows of other people."""


@dataclass(frozen=True, slots=True)
class Needles:
    """Keys of messages as bytes, and byte strings that each identify the person.

    `parts` are the texts and the keys, as they are and as JSON strings hold them. `key_parts` are
    those of the keys: their brackets and quotes prevent matches inside longer texts.
    """

    keys: frozenset[bytes]
    key_parts: tuple[bytes, ...]
    parts: tuple[bytes, ...]

    def in_any(self, *values: bytes | None) -> bool:
        """Whether one of the values contains a text or key."""
        return any(part in value for value in values if value for part in self.parts)

    def key_in_any(self, *values: bytes | None) -> bool:
        """Whether one of the values contains a key."""
        return any(part in value for value in values if value for part in self.key_parts)

    def are_in(self, text: str) -> bool:
        """Whether a text contains one of the searched keys or texts."""
        return self.in_any(text.encode())


def read_needles(keys: Iterable[str], texts: Iterable[str]) -> Needles:
    """Return the search terms from lines; empty lines are ignored.

    A key is written as in messages: a JSON array of table and values, `["shop.client","7"]`. Raises
    ErasureRefused.
    """
    found = [line.strip() for line in keys if line.strip()]
    words = [line.strip("\r\n") for line in texts if line.strip()]
    if not found and not words:
        raise ErasureRefused("Neither a key nor a text is named.")
    for number, each in enumerate(found, start=1):
        if not _is_key(each):
            raise ErasureRefused(f"Line {number} of the keys is no key of a message.")
    for number, each in enumerate(words, start=1):
        if len(each) < LEAST_CHARACTERS:
            raise ErasureRefused(
                f"Line {number} of the texts has fewer than {LEAST_CHARACTERS} characters."
            )
    of_keys = {form for each in found for form in _forms(each)}
    parts = of_keys | {form for each in words for form in _forms(each)}
    keys_of_messages = frozenset(each.encode() for each in found)
    return Needles(keys_of_messages, tuple(sorted(of_keys)), tuple(sorted(parts)))


def _is_key(line: str) -> bool:
    try:
        value = json.loads(line)
    except ValueError:
        return False
    return isinstance(value, list) and len(value) > 1 and all(isinstance(v, str) for v in value)


def _forms(text: str) -> Iterable[bytes]:
    """Yield a text unchanged, and as JSON strings with and without escaped letters."""
    yield text.encode()
    yield json.dumps(text)[1:-1].encode()
    yield json.dumps(text, ensure_ascii=False)[1:-1].encode()
