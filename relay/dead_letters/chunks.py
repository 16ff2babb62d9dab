"""Cuts dead letters into pieces that a topic accepts, and puts them together, without input or
output.

Each piece is a line of JSON (`part` of `parts`, and the digest of the whole) and its bytes. All
pieces of a dead letter have its id as their key.
"""

from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from math import ceil
from typing import Any, Final, NamedTuple

import orjson

from relay.errors import DeadLetterDamaged

HEAD_BYTES: Final = 1024
"""Upper limit in bytes for key, line and Kafka's overhead of a record."""
LARGEST_PIECE_BYTES: Final = 900_000
"""Largest piece in bytes, so that consumers with default settings can read each piece.

A topic with a smaller limit gets smaller pieces.
"""
REPLAYED: Final = "replayed"
"""Field of a record that is no piece, but marks the message of a dead letter as sent."""
_NAMED_PARTS: Final = 20
"""Most missing parts that an error names."""

DAMAGED_REMEDY: Final = (
    "Permit only relays to write to the topic of the dead letters (ACLs). The relay's log has "
    "an entry dead_letter with the id and the table of each dead letter: publish the row again "
    "from the source (`roma snapshot start`)."
)
"""The remedy for records that no relay has written, or that were changed."""


class Piece(NamedTuple):
    """One part of a dead letter, counted from 1. `digest` is the SHA-256 of the whole dead
    letter.
    """

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
    """Return the piece in a record's value; None if the record marks a dead letter as sent.

    Raises DeadLetterDamaged if the value is neither.
    """
    line, _, content = value.partition(b"\n")
    try:
        fields: dict[str, Any] = orjson.loads(line)
        if REPLAYED in fields:
            return None
        piece = Piece(fields["part"], fields["parts"], fields["sha256"], content)
        return _checked(piece)
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as exc:
        raise DeadLetterDamaged(
            f"A record in the topic of dead letters cannot be read ({exc}).", remedy=DAMAGED_REMEDY
        ) from exc


def _checked(piece: Piece) -> Piece:
    """Return the piece. Raises ValueError if its numbers or its digest cannot be those of one."""
    if [type(each) for each in piece[:3]] != [int, int, str]:
        raise ValueError("its part, its number of parts or its digest has another type")
    if not 1 <= piece.part <= piece.parts:
        raise ValueError(f"it is part {piece.part} of {piece.parts}")
    return piece


class Gathering:
    """The pieces of one dead letter that were read so far. A piece may be read twice."""

    def __init__(self, letter: str, parts: int, digest: str) -> None:
        self._letter = letter
        self._parts = parts
        self._digest = digest
        self._contents: dict[int, bytes] = {}

    def add(self, piece: Piece) -> bytes | None:
        """Add a piece. Return the whole document if all pieces are there, otherwise None.

        Raises DeadLetterDamaged if the digest of the document differs from the one in the pieces.
        """
        self._contents[piece.part] = piece.content
        if len(self._contents) < self._parts:
            return None
        document = b"".join(self._contents[part] for part in sorted(self._contents))
        if sha256(document).hexdigest() != self._digest:
            raise DeadLetterDamaged(
                f"The SHA-256 of dead letter {self._letter}, put together from its {self._parts} "
                "parts, differs from the one in the parts: a part was changed, or comes from "
                "another writer.",
                remedy=DAMAGED_REMEDY,
            )
        return document

    @property
    def damage(self) -> DeadLetterDamaged:
        """Return the error for a dead letter whose pieces are not all in the topic."""
        missing = (part for part in range(1, self._parts + 1) if part not in self._contents)
        first = ", ".join(map(str, islice(missing, _NAMED_PARTS)))
        more = " and more" if next(missing, None) is not None else ""
        return DeadLetterDamaged(
            f"Of the {self._parts} parts of dead letter {self._letter}, these are missing in the "
            f"topic: {first}{more}."
        )
