"""Combines the records of a dead-letter topic into dead letters, without input or output."""

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import orjson

from relay.dead_letters.chunks import DAMAGED_REMEDY, REPLAYED, Gathering, Piece, piece_of
from relay.dead_letters.dead_letter import DeadLetter
from relay.errors import DeadLetterDamaged
from relay.kafka import Record

_SENT_REMEDY: Final = (
    "The record says that the message of a dead letter was sent. Read the last messages of its key "
    "in its topic (`roma peek`). Only if the message is missing, publish the row again from the "
    "source (`roma snapshot start TABLE --where …`)."
)


class Replay(NamedTuple):
    """A record that the message of a dead letter was sent: by whom, when (Unix milliseconds), and
    why.
    """

    actor: str
    at_ms: int
    comment: str = ""


class Found(NamedTuple):
    """The meaning of one record, or of several records together.

    name     id of the dead letter, which is the key of the records
    offset   offset of the record; of the first one if there are several
    content  the whole dead letter, a replay of it, or what is wrong with the records
    """

    name: str
    offset: int
    content: DeadLetter | Replay | DeadLetterDamaged


def found_in(records: Iterable[Record], wanted: str | None = None) -> Iterator[Found]:
    """Yield each dead letter with all its parts, each replay, and each damage.

    wanted  id of the only dead letter whose records count; None: all of them

    Damaged records never prevent the reading of other dead letters. Dead letters with missing parts
    come last.
    """
    opened: dict[tuple[str, str], tuple[int, Gathering]] = {}
    for offset, key, value in records:
        name = (key or b"").decode("utf-8", "replace")
        if wanted is not None and name != wanted:
            continue
        try:
            piece = piece_of(value or b"")
            if piece is None:
                yield Found(name, offset, _replay(value or b""))
            else:
                yield from _whole(opened, piece, name, offset)
        except DeadLetterDamaged as damage:
            yield Found(name, offset, damage)
    for (name, _), (offset, gathering) in opened.items():
        yield Found(name, offset, gathering.damage)


def _whole(
    opened: dict[tuple[str, str], tuple[int, Gathering]], piece: Piece, name: str, offset: int
) -> Iterator[Found]:
    """Add a piece to those that were read; yield the dead letter if that was its last piece."""
    key = name, piece.digest
    first, gathering = opened.setdefault(key, (offset, Gathering(name, piece.parts, piece.digest)))
    try:
        document = gathering.add(piece)
        content = None if document is None else DeadLetter.from_bytes(document)
    except DeadLetterDamaged as damage:
        del opened[key]
        yield Found(name, first, damage)
        return
    if content is not None:
        del opened[key]
        yield Found(name, first, content if content.id == name else _foreign(content, name))


def _foreign(letter: DeadLetter, name: str) -> DeadLetterDamaged:
    return DeadLetterDamaged(
        f"The records with the key {name} contain dead letter {letter.id}.", remedy=DAMAGED_REMEDY
    )


def _replay(value: bytes) -> Replay:
    try:
        fields: dict[str, Any] = orjson.loads(value)[REPLAYED]
        found = Replay(fields["actor"], fields["at_ms"], fields["comment"])
    except (orjson.JSONDecodeError, KeyError, TypeError) as exc:
        raise DeadLetterDamaged(
            f"A record in the topic of dead letters cannot be read ({exc}).", remedy=_SENT_REMEDY
        ) from exc
    if [type(each) for each in found] != [str, int, str]:
        raise DeadLetterDamaged(
            "A record in the topic of dead letters says that a message was sent, but not by whom "
            "and when.",
            remedy=_SENT_REMEDY,
        )
    return found
