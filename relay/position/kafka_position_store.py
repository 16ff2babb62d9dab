"""The instance's position topic: compacted, one partition, read to its true end."""

from contextlib import closing
from typing import Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from relay.deadline import Deadline
from relay.errors import PositionUnreadable
from relay.kafka import (
    TopicAdmin,
    TopicFinding,
    TopicSpec,
    TopicState,
    WantedTopic,
    accept,
    client_configuration,
    kafka_errors,
    position_topic_findings,
)
from relay.model.message import OutboundMessage
from relay.position.record import PositionRecord
from relay.settings import KafkaSettings

_READ_SECONDS: Final = 30.0
_REQUEST_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.2
# One record a batch: the newest is among the last few offsets, half of which are transaction markers.
_TAIL_OFFSETS: Final = 100


class KafkaPositionStore:
    """Finds the last committed position record of one instance, and makes the message that the next one travels in."""

    def __init__(self, kafka: KafkaSettings, installation: str, instance: str) -> None:
        self.topic = f"{installation}.position.{instance}"
        self._kafka = kafka
        self._key = instance.encode()

    def ensure_topic(self) -> bool:
        """Make the topic if it is not there (True); raise TopicRefused if it stands with another form."""
        admin = TopicAdmin(self._kafka)
        state = admin.state(self.topic)
        if state is None:
            return admin.create(self.spec())
        accept(self.findings(state))
        return False

    def findings(self, state: TopicState) -> list[TopicFinding]:
        """Say what is wrong with the topic as it stands."""
        kafka = self._kafka
        return position_topic_findings(
            state, WantedTopic(1, "compact", kafka.replication_factor, kafka.min_insync_replicas, kafka.message_max_bytes)
        )

    def spec(self) -> TopicSpec:
        """The form in which the topic is made."""
        settings = {
            "cleanup.policy": "compact",
            "min.insync.replicas": str(self._kafka.min_insync_replicas),
            "segment.ms": "3600000",
            "min.cleanable.dirty.ratio": "0.1",
        }
        return TopicSpec(self.topic, 1, self._kafka.replication_factor, settings)

    def message(self, record: PositionRecord) -> OutboundMessage:
        """Return the message that joins the rows' batch."""
        return OutboundMessage(self.topic, 0, self._key, record.to_bytes(), ())

    def read(self) -> PositionRecord | None:
        """Return the last committed record, None if there never was one. Call it after the producer has fenced the older ones.

        Raises PositionUnreadable when committed records may still be hidden behind an open transaction.
        """
        low, high = self._watermarks()
        tail = max(low, high - _TAIL_OFFSETS)
        found = self._last_between(tail, high)
        return found if found is not None or tail == low else self._last_between(low, high)

    def _watermarks(self) -> tuple[int, int]:
        """Oldest and next offset as an uncommitted reader sees them: what a committed one must reach to have seen all."""
        with closing(self._consumer("read_uncommitted")) as consumer, kafka_errors(f"Reading {self.topic}"):
            offsets = consumer.get_watermark_offsets(TopicPartition(self.topic, 0), timeout=_REQUEST_SECONDS)
        if offsets is None:
            raise PositionUnreadable(f"The offsets of {self.topic} were not answered.")
        return offsets

    def _last_between(self, start: int, high: int) -> PositionRecord | None:
        last: bytes | None = None
        reached = start
        deadline = Deadline.after(_READ_SECONDS)
        with closing(self._consumer("read_committed")) as consumer, kafka_errors(f"Reading {self.topic}"):
            consumer.assign([TopicPartition(self.topic, 0, start if start else OFFSET_BEGINNING)])
            while reached < high:
                message = consumer.poll(_POLL_SECONDS)
                if message is not None and message.error() is None and message.key() == self._key:
                    last = message.value()
                reached = max(reached, consumer.position([TopicPartition(self.topic, 0)])[0].offset)
                if deadline.passed:
                    raise PositionUnreadable(
                        f"{self.topic} was read to offset {reached} of {high}: an open transaction hides what lies behind."
                    )
        return None if last is None else PositionRecord.from_bytes(last)

    def _consumer(self, isolation: str) -> Consumer:
        return Consumer(
            {
                **client_configuration(self._kafka),
                "group.id": f"{self.topic}.reader",
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "auto.offset.reset": "error",
                "isolation.level": isolation,
                "fetch.wait.max.ms": 20,
            }
        )
