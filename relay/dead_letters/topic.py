"""The dead letters of one instance: a topic with one partition and unlimited retention, which is
written in the Kafka transactions of the rows.
"""

from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

import orjson

from relay.dead_letters.chunks import DAMAGED_REMEDY, REPLAYED, Gathering, cut, piece_of
from relay.dead_letters.dead_letter import DeadLetter
from relay.errors import DeadLetterDamaged, DeadLettersUnreadable, DeadLetterUnknown
from relay.kafka import (
    PartitionReader,
    RewriteTurn,
    Rewritten,
    TopicAdmin,
    TopicRewrite,
    TopicSpec,
    WantedTopic,
    accept,
    row_topic_findings,
    topic_limit,
)
from relay.model.message import OutboundMessage
from relay.model.names.own_topics import DEAD_LETTERS, own_prefix
from relay.settings import KafkaSettings


class Replay(NamedTuple):
    """A record that the message of a dead letter was sent: by whom, when (Unix milliseconds), and
    why.
    """

    actor: str
    at_ms: int
    comment: str = ""


class ListedDeadLetter(NamedTuple):
    """A dead letter, and its last replay; None: its message was never sent again."""

    letter: DeadLetter
    replay: Replay | None


def letters_prefix(installation: str) -> str:
    """Return the prefix of the names of dead letter topics; the instance's name follows it."""
    return own_prefix(installation, DEAD_LETTERS)


class DeadLetterTopic:
    """Creates the records of dead letters, and reads dead letters."""

    def __init__(self, kafka: KafkaSettings, installation: str, instance: str) -> None:
        self.topic = letters_prefix(installation) + instance
        self._kafka = kafka

    def ensure(self) -> int:
        """Create the topic if it is missing, and return its largest batch in bytes.

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
        """Yield the records of a dead letter, none larger than the topic accepts."""
        for value in cut(letter.to_bytes(), limit_bytes):
            yield OutboundMessage(self.topic, 0, letter.id.encode(), value, ())

    def replay_mark(self, letter: DeadLetter, replay: Replay) -> OutboundMessage:
        """Return the record that marks a dead letter's message as sent.

        Send it in the Kafka transaction of the message.
        """
        return OutboundMessage(
            self.topic, 0, letter.id.encode(), orjson.dumps({REPLAYED: replay._asdict()}), ()
        )

    def letters(self) -> list[ListedDeadLetter]:
        """Return all dead letters without their values, the oldest first.

        Raises DeadLetterDamaged if a piece is missing or damaged, DeadLettersUnreadable while an
        open transaction hides dead letters.
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
        """Return the dead letter with this id, and its value. Raises DeadLetterUnknown,
        DeadLetterDamaged.
        """
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

    def matching(self, accepts: Callable[[DeadLetter], bool]) -> list[DeadLetter]:
        """Return the dead letters that the function accepts, without their values.

        The function receives them with their values. Raises DeadLetterDamaged,
        DeadLettersUnreadable.
        """
        return [
            found.head
            for found in self._records(None)
            if isinstance(found, DeadLetter) and accepts(found)
        ]

    def remove(self, ids: Collection[str], turn: RewriteTurn) -> Rewritten:
        """Rewrite the topic without these dead letters and the records of their replays.

        `turn` is the exclusive right to rewrite topics. Raises DeadLettersUnreadable while an open
        transaction hides dead letters; then repeat the call.
        """
        keys = {each.encode() for each in ids}
        rewrite = TopicRewrite(self._kafka, self.topic, turn, DeadLettersUnreadable)
        return rewrite.run(lambda record: None if record[0] in keys else record)

    def _records(self, wanted: str | None) -> Iterator[DeadLetter | tuple[str, Replay]]:
        """Read the topic to its end; return dead letters with all their parts, and replays by
        letter.

        With a letter given, only those of this letter.
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
        raise DeadLetterDamaged(
            f"A record in the topic of dead letters cannot be read ({exc}).", remedy=DAMAGED_REMEDY
        ) from exc
