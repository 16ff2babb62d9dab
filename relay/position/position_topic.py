"""Reads and writes an instance's position topic, which is compacted and has one partition."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final

from relay.errors import PositionNewer, PositionUnreadable
from relay.kafka import (
    PartitionReader,
    TopicAdmin,
    TopicFinding,
    TopicSpec,
    TopicState,
    WantedTopic,
    position_topic_findings,
)
from relay.model.message import OutboundMessage
from relay.model.names.own_topics import POSITION, own_prefix
from relay.model.records.position_record import PositionRecord
from relay.position.kept_mapping import Documents, keep_named, kept_documents
from relay.position.position_history import HistorySchedule
from relay.settings import KafkaSettings

# Number of offsets at the end of the topic that are read first. Each batch adds one position
# record, and about half of the offsets are transaction markers.
_TAIL_OFFSETS: Final = 100


def position_topics(kafka: KafkaSettings, installation: str) -> dict[str, str]:
    """Return the existing position topics of an installation, by instance.

    Raises BrokerUnreachable, KafkaNotPermitted.
    """
    prefix = position_prefix(installation)
    topics = TopicAdmin(kafka).partition_counts()
    return {each.removeprefix(prefix): each for each in topics if each.startswith(prefix)}


def position_prefix(installation: str) -> str:
    """Return the prefix of position topics, which the instance's name follows."""
    return own_prefix(installation, POSITION)


class KafkaPositionStore:
    """Reads the last committed position record of one instance, and creates the message of the next
    one.
    """

    def __init__(self, kafka: KafkaSettings, installation: str, instance: str) -> None:
        self.topic = position_prefix(installation) + instance
        self._kafka = kafka
        self._key = instance.encode()
        self._history_key = f"{instance}/".encode()
        self._mapping_key = f"{instance}:mapping:".encode()
        self._schedule = HistorySchedule()
        self._reader = PartitionReader(kafka, self.topic, PositionUnreadable)

    def ensure_topic(self) -> bool:
        """Create the topic if it does not exist; return whether it was created.

        Raises TopicRefused if it exists with other settings.
        """
        return TopicAdmin(self._kafka).ensure(self.spec(), self.findings)

    def findings(self, state: TopicState) -> list[TopicFinding]:
        """Return the problems in the settings of the position topic; `state` is what Kafka reports
        about it.
        """
        return position_topic_findings(state, WantedTopic.of(self._kafka, 1, "compact"))

    def spec(self) -> TopicSpec:
        """Return the settings with which the position topic is created."""
        settings = {
            "cleanup.policy": "compact",
            "min.insync.replicas": str(self._kafka.min_insync_replicas),
            "segment.ms": "3600000",
            "min.cleanable.dirty.ratio": "0.1",
        }
        return TopicSpec(self.topic, 1, self._kafka.replication_factor, settings)

    def message(self, record: PositionRecord) -> OutboundMessage:
        """Return the message of the position record, for the batch of the rows."""
        return OutboundMessage(self.topic, 0, self._key, record.to_bytes(), ())

    def history_messages(self, record: PositionRecord, now_ms: int) -> list[OutboundMessage]:
        """Return the messages that add this record to the position history; `now_ms` is Unix time.

        Empty if the existing entries are recent enough.
        """
        value = (
            record.as_history_entry.to_bytes()
            if (slots := self._schedule.due(record, now_ms))
            else b""
        )
        return [
            OutboundMessage(self.topic, 0, self._history_key + slot.encode(), value, ())
            for slot in slots
        ]

    def keep_mappings(
        self, record: PositionRecord, contents: Mapping[str, Documents]
    ) -> tuple[PositionRecord, list[OutboundMessage]]:
        """Return the record with the sets that the topic has after the commit, and the messages for
        its batch.

        `contents` are the documents that may have to be written, by the digest of their set.
        """
        record, changes = keep_named(record, contents)
        return record, [
            OutboundMessage(self.topic, 0, self._mapping_key + key.encode(), value, ())
            for key, value in changes
        ]

    def kept_mapping(self, digest: str) -> Documents | None:
        """Read the documents of the set of this digest; None if the topic lacks them.

        Raises the errors of `read`.
        """
        parts: dict[str, bytes] = {}
        for key, value in self._reader.committed(*self._reader.ends()):
            if key is not None and key.startswith(self._mapping_key):
                end = key[len(self._mapping_key) :].decode()
                parts.pop(end, None)
                if value is not None:
                    parts[end] = value
        return kept_documents(digest, parts)

    def read_whole(self) -> tuple[PositionRecord | None, tuple[PositionRecord, ...]]:
        """Read the last record and the position history.

        The history is in no order and lacks records of a newer format. Raises the errors of `read`.
        """
        newest = {
            key: value
            for key, value in self._reader.committed(*self._reader.ends())
            if value is not None
        }
        record = newest.get(self._key)
        history = _readable(
            value
            for key, value in newest.items()
            if key is not None and key.startswith(self._history_key)
        )
        return None if record is None else PositionRecord.from_bytes(record), tuple(history)

    def read(self) -> PositionRecord | None:
        """Return the last committed record; None if the topic has no record.

        Call this method only after the present producer has fenced older ones. Raises
        PositionUnreadable if an open transaction may hide committed records.
        """
        low, high = self._reader.ends()
        tail = max(low, high - _TAIL_OFFSETS)
        found = self._last_between(tail, high)
        return found if found is not None or tail == low else self._last_between(low, high)

    def _last_between(self, start: int, high: int) -> PositionRecord | None:
        last: bytes | None = None
        for key, value in self._reader.committed(start, high):
            if key == self._key:
                last = value
        return None if last is None else PositionRecord.from_bytes(last)


def _readable(values: Iterable[bytes]) -> Iterator[PositionRecord]:
    for value in values:
        with suppress(PositionNewer):
            yield PositionRecord.from_bytes(value)
