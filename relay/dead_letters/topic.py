"""Reads and writes the dead letters of one instance, in a topic with one partition and unlimited
retention.

Dead letters are written in the Kafka transactions of the rows.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from typing import NamedTuple

import orjson

from relay.dead_letters.chunks import REPLAYED, cut
from relay.dead_letters.dead_letter import DeadLetter
from relay.dead_letters.found_records import Found, Replay, found_in
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


class ListedDeadLetter(NamedTuple):
    """A dead letter, and its last replay; None: its message was never sent again.

    record_offset  offset of its record in the topic; of the first one if it has several
    """

    letter: DeadLetter
    replay: Replay | None
    record_offset: int = 0


class DamagedDeadLetter(NamedTuple):
    """Records of the topic that do not form a readable dead letter.

    id             key of the records, which is the id of the dead letter; may be empty
    record_offset  offset of the record; of the first one if there are several
    damage         what is wrong, and the remedy
    """

    id: str
    record_offset: int
    damage: DeadLetterDamaged


class DeadLetterList(NamedTuple):
    """The dead letters of a topic without their values, the oldest first, and what is damaged."""

    letters: list[ListedDeadLetter]
    damaged: list[DamagedDeadLetter]


def _ignore(_: DeadLetter) -> None:
    return


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

    def letters(self, look: Callable[[DeadLetter], None] = _ignore) -> DeadLetterList:
        """Return all dead letters without their values. A damaged one does not hide the others.

        look  is called with each dead letter and its value

        Raises DeadLettersUnreadable while an open transaction hides dead letters, and
        BrokerUnreachable.
        """
        letters: dict[str, ListedDeadLetter] = {}
        replays: dict[str, Replay] = {}
        damaged: list[DamagedDeadLetter] = []
        for name, offset, content in self._records(None):
            if isinstance(content, DeadLetter):
                look(content)
                letters[content.id] = ListedDeadLetter(content.head, None, offset)
            elif isinstance(content, Replay):
                replays[name] = content
            else:
                damaged.append(DamagedDeadLetter(name, offset, content))
        whole = [each._replace(replay=replays.get(name)) for name, each in letters.items()]
        return DeadLetterList(whole, damaged)

    def letter(self, wanted: str) -> ListedDeadLetter:
        """Return the dead letter with this id, and its value. Raises DeadLetterUnknown,
        DeadLetterDamaged.
        """
        found: ListedDeadLetter | None = None
        replay: Replay | None = None
        for _, offset, content in self._records(wanted):
            if isinstance(content, DeadLetterDamaged):
                raise content
            if isinstance(content, DeadLetter):
                found = ListedDeadLetter(content, None, offset)
            else:
                replay = content
        if found is None:
            raise DeadLetterUnknown(f"No dead letter in {self.topic} has the id {wanted}.")
        return found._replace(replay=replay)

    def matching(self, accepts: Callable[[DeadLetter], bool]) -> list[DeadLetter]:
        """Return the dead letters that the function accepts, without their values.

        The function receives them with their values. Raises DeadLetterDamaged,
        DeadLettersUnreadable.
        """
        found: list[DeadLetter] = []
        for _, _, content in self._records(None):
            if isinstance(content, DeadLetterDamaged):
                raise content
            if isinstance(content, DeadLetter) and accepts(content):
                found.append(content.head)
        return found

    def remove(self, ids: Collection[str], turn: RewriteTurn) -> Rewritten:
        """Rewrite the topic without these dead letters and the records of their replays.

        `turn` is the exclusive right to rewrite topics. Raises DeadLettersUnreadable while an open
        transaction hides dead letters; then repeat the call.
        """
        keys = {each.encode() for each in ids}
        rewrite = TopicRewrite(self._kafka, self.topic, turn, DeadLettersUnreadable)
        return rewrite.run(lambda record: None if record[0] in keys else record)

    def _records(self, wanted: str | None) -> Iterator[Found]:
        """Yield what the topic has up to its end; with an id, only what belongs to this dead
        letter.
        """
        if TopicAdmin(self._kafka).state(self.topic) is None:
            return
        reader = PartitionReader(self._kafka, self.topic, DeadLettersUnreadable)
        with closing(reader.records(*reader.ends())) as records:
            yield from found_in(records, wanted)
