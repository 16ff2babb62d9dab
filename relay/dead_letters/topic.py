"""The dead letters of one instance: a topic of one partition, kept for ever, written in the
transactions of the rows.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from relay.dead_letters.chunks import REPLAYED, Gathering, cut, piece_of
from relay.dead_letters.dead_letter import DeadLetter
from relay.errors import DeadLetterDamaged, DeadLettersUnreadable, DeadLetterUnknown
from relay.kafka import (
    PartitionReader,
    TopicAdmin,
    TopicSpec,
    WantedTopic,
    accept,
    row_topic_findings,
    topic_limit,
)
from relay.model.message import OutboundMessage
from relay.settings import KafkaSettings


class Replay(NamedTuple):
    """Who sent a letter's message, when (Unix milliseconds), and why."""

    actor: str
    at_ms: int
    comment: str = ""


class ListedDeadLetter(NamedTuple):
    """A letter, and its last replay if there was one."""

    letter: DeadLetter
    replay: Replay | None


class DeadLetterTopic:
    """Makes the records of letters, and reads the letters back."""

    def __init__(self, kafka: KafkaSettings, installation: str, instance: str) -> None:
        self.topic = f"{installation}.dead-letters.{instance}"
        self._kafka = kafka

    def ensure(self) -> int:
        """Make the topic if it is not there, and return the largest batch that it takes.

        Raises TopicRefused, BrokerUnreachable.
        """
        admin, kafka = TopicAdmin(self._kafka), self._kafka
        wanted = WantedTopic.of(kafka, 1, "forever")
        if admin.state(self.topic) is None:
            admin.create(TopicSpec(self.topic, 1, kafka.replication_factor, wanted.settings))
        state = admin.state(self.topic)
        if state is None:
            return kafka.message_max_bytes
        accept(row_topic_findings(state, wanted))
        return topic_limit(state.settings, kafka.message_max_bytes)

    def messages(self, letter: DeadLetter, limit_bytes: int) -> Iterator[OutboundMessage]:
        """Yield the records of a letter, none larger than the topic takes."""
        for value in cut(letter.to_bytes(), limit_bytes):
            yield OutboundMessage(self.topic, 0, letter.id.encode(), value, ())

    def replay_mark(self, letter: DeadLetter, replay: Replay) -> OutboundMessage:
        """Return the record that says that a letter's message was sent.

        It travels in the same transaction.
        """
        return OutboundMessage(
            self.topic, 0, letter.id.encode(), orjson.dumps({REPLAYED: replay._asdict()}), ()
        )

    def letters(self) -> list[ListedDeadLetter]:
        """Return all letters without their values, the oldest first.

        Raises DeadLetterDamaged where a part is missing.
        """
        letters: dict[str, DeadLetter] = {}
        replays: dict[str, Replay] = {}
        for found in self._records(None):
            if isinstance(found, DeadLetter):
                letters[found.id] = found.head
            else:
                replays[found[0]] = found[1]
        return [ListedDeadLetter(letter, replays.get(letter.id)) for letter in letters.values()]

    def letter(self, wanted: str) -> ListedDeadLetter:
        """Return one letter whole. Raises DeadLetterUnknown, DeadLetterDamaged."""
        letter: DeadLetter | None = None
        replay: Replay | None = None
        for found in self._records(wanted):
            if isinstance(found, DeadLetter):
                letter = found
            else:
                replay = found[1]
        if letter is None:
            raise DeadLetterUnknown(f"No dead letter in {self.topic} has the id {wanted}.")
        return ListedDeadLetter(letter, replay)

    def _records(self, wanted: str | None) -> Iterator[DeadLetter | tuple[str, Replay]]:
        """Read the topic to its end: whole letters, and replays by letter.

        Of one letter alone where it is given.
        """
        if TopicAdmin(self._kafka).state(self.topic) is None:
            return
        open_ones: dict[tuple[str, str], Gathering] = {}
        reader = PartitionReader(self._kafka, self.topic, DeadLettersUnreadable)
        for key, value in reader.committed(*reader.ends()):
            name = (key or b"").decode("utf-8", "replace")
            if wanted is not None and name != wanted:
                continue
            piece = piece_of(value or b"")
            if piece is None:
                yield name, _replay(value or b"")
                continue
            gathering = open_ones.setdefault(
                (name, piece.digest), Gathering(name, piece.parts, piece.digest)
            )
            document = gathering.add(piece)
            if document is not None:
                del open_ones[(name, piece.digest)]
                yield DeadLetter.from_bytes(document)
        for gathering in open_ones.values():
            raise gathering.damage


def _replay(value: bytes) -> Replay:
    try:
        fields: dict[str, Any] = orjson.loads(value)[REPLAYED]
        return Replay(fields["actor"], fields["at_ms"], fields["comment"])
    except (orjson.JSONDecodeError, KeyError, TypeError) as exc:
        raise DeadLetterDamaged(f"A record among the dead letters cannot be read ({exc}).") from exc
