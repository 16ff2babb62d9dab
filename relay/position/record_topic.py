"""Stores records of an instance beside its position, in a compacted topic of one partition.

They are written in the same transactions as the position.
"""

from collections.abc import Generator, Iterable

from relay.errors import PositionUnreadable
from relay.kafka import (
    PartitionReader,
    Record,
    TopicAdmin,
    TopicSpec,
    WantedTopic,
    position_topic_findings,
)
from relay.model.message import OutboundMessage
from relay.model.names.own_topics import own_prefix
from relay.settings import KafkaSettings


class RecordTopic:
    """Keyed records of one purpose in a compacted topic.

    The value of a key is its last record; a record without a value deletes the key.
    """

    def __init__(
        self, kafka: KafkaSettings, installation: str, purpose: str, instance: str
    ) -> None:
        self.topic = own_prefix(installation, purpose) + instance
        self._kafka = kafka
        self._reader = PartitionReader(kafka, self.topic, PositionUnreadable)

    def ensure_topic(self) -> bool:
        """Create the topic if it does not exist; return whether it was created.

        Raises TopicRefused if it exists with other settings.
        """
        wanted = WantedTopic.of(self._kafka, 1, "compact")
        spec = TopicSpec(self.topic, 1, wanted.replication_factor, wanted.settings)
        return TopicAdmin(self._kafka).ensure(
            spec, lambda state: position_topic_findings(state, wanted)
        )

    def message(self, key: bytes, value: bytes | None) -> OutboundMessage:
        """Return a record with this key and value as a message, to be committed with a batch.
        `value` None deletes the key.
        """
        return OutboundMessage(self.topic, 0, key, value, ())

    def messages(self, records: Iterable[tuple[bytes, bytes | None]]) -> list[OutboundMessage]:
        """Return one message for each record (key, value), to be committed with a batch. A value
        None deletes the key.
        """
        return [self.message(key, value) for key, value in records]

    def read(self) -> dict[bytes, bytes]:
        """Return the committed value of each key that is not deleted.

        Call this method only after the present producer has fenced older ones. Raises
        PositionUnreadable if an open transaction may hide committed records.
        """
        found: dict[bytes, bytes] = {}
        for key, value in self._reader.committed(*self.ends()):
            if key is None:
                continue
            found.pop(key, None)
            if value is not None:
                found[key] = value
        return found

    def ends(self) -> tuple[int, int]:
        """Return the oldest offset of the topic and the offset after the newest record."""
        return self._reader.ends()

    def between(self, first: int, end: int) -> Generator[Record, None, None]:
        """Yield offset, key and value of each committed record with first <= offset < end.

        Close the generator after use. Raises PositionUnreadable if an open transaction may hide
        committed records.
        """
        return self._reader.records(first, end)
