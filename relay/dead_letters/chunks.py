"""Dead letters in pieces that a topic takes, and whole again. Pure.

Each piece is a line of JSON (`part` of `parts`, and the digest of the whole) and its bytes; the key
of all is the letter's id.
"""

from collections.abc import Iterator
from hashlib import sha256
from math import ceil
from typing import Any, Final, NamedTuple

import orjson

from relay.errors import DeadLetterDamaged

HEAD_BYTES: Final = 1024
"""Upper bound of the bytes that key, line and Kafka's record overhead need."""
LARGEST_PIECE_BYTES: Final = 900_000
"""Used also if the topic accepts more: consumers with default settings can then read each piece."""
REPLAYED: Final = "replayed"
"""The field of a record that is not a piece, but says that a letter's message was sent."""


class Piece(NamedTuple):
    """One part of a letter, counted from 1; `digest` is the SHA-256 of the whole."""

    part: int
    parts: int
    digest: str
    content: bytes


def cut(document: bytes, limit_bytes: int) -> Iterator[bytes]:
    """Yield the record values of a document's pieces; none is larger than the topic's limit."""
    size = max(1, min(limit_bytes - HEAD_BYTES, LARGEST_PIECE_BYTES))
    parts, digest = max(1, ceil(len(document) / size)), sha256(document).hexdigest()
    for part in range(parts):
        line = orjson.dumps({"part": part + 1, "parts": parts, "sha256": digest})
        yield line + b"\n" + document[part * size : (part + 1) * size]


def piece_of(value: bytes) -> Piece | None:
    """Read a record's value; None if it is not a piece of a letter.

    Raises DeadLetterDamaged for a broken piece.
    """
    line, _, content = value.partition(b"\n")
    try:
        fields: dict[str, Any] = orjson.loads(line)
        return (
            None
            if REPLAYED in fields
            else Piece(fields["part"], fields["parts"], fields["sha256"], content)
        )
    except (orjson.JSONDecodeError, KeyError, TypeError) as exc:
        raise DeadLetterDamaged(f"A record among the dead letters cannot be read ({exc}).") from exc


class Gathering:
    """The pieces of one letter that have come so far.

    The same piece may come twice where delivery is at least once.
    """

    def __init__(self, letter: str, parts: int, digest: str) -> None:
        self._letter = letter
        self._parts = parts
        self._digest = digest
        self._contents: dict[int, bytes] = {}

    def add(self, piece: Piece) -> bytes | None:
        """Add a piece; return the document when it is complete.

        Raises DeadLetterDamaged if the document differs from the written one.
        """
        self._contents[piece.part] = piece.content
        if len(self._contents) < self._parts:
            return None
        document = b"".join(self._contents[part] for part in sorted(self._contents))
        if sha256(document).hexdigest() != self._digest:
            raise DeadLetterDamaged(
                f"The parts of dead letter {self._letter} are not those that were written."
            )
        return document

    @property
    def damage(self) -> DeadLetterDamaged:
        """Return the error for a letter that is incomplete at the end of the topic."""
        missing = [str(part) for part in range(1, self._parts + 1) if part not in self._contents]
        return DeadLetterDamaged(
            f"Of the {self._parts} parts of dead letter {self._letter}, these are missing: "
            f"{', '.join(missing)}."
        )
