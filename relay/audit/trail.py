"""The installation's audit topic: one partition, kept for ever, only ever appended to."""

from collections import deque
from contextlib import suppress
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from relay.audit.entry import AuditEntry
from relay.errors import AuditUnreadable, BrokerUnreachable, RelayError
from relay.kafka import (
    PartitionReader,
    Right,
    TopicAdmin,
    TopicSpec,
    WantedTopic,
    client_configuration,
    error_of,
    kafka_client,
    relay_error,
    row_topic_findings,
)
from relay.model.message import OutboundMessage
from relay.settings import KafkaSettings

_APPEND_SECONDS: Final = 15.0


class AuditTrail:
    """Appends entries and reads them back.

    An entry may also travel in a transaction, as `message`, with what it tells of.
    """

    def __init__(self, kafka: KafkaSettings, installation: str) -> None:
        self.topic = f"{installation}.audit"
        self._kafka = kafka

    def ensure_topic(self) -> None:
        """Make the topic if it is not there.

        Raise TopicRefused if it stands with a form in which entries would be lost.
        """
        wanted = WantedTopic.of(self._kafka, 1, "forever")
        spec = TopicSpec(self.topic, 1, wanted.replication_factor, wanted.settings)
        TopicAdmin(self._kafka).ensure(spec, lambda state: row_topic_findings(state, wanted))

    def message(self, entry: AuditEntry) -> OutboundMessage:
        """The entry as a message that joins a batch."""
        return OutboundMessage(self.topic, 0, entry.subject.encode(), entry.to_bytes(), ())

    def append(self, entry: AuditEntry) -> None:
        """Write an entry and wait until Kafka has it.

        Raises BrokerUnreachable, TopicRefused, KafkaNotPermitted, DeliveryRefused.
        """
        self.ensure_topic()
        refused: list[RelayError] = []

        def report(error: KafkaError | None, _: Message) -> None:
            if error is not None:
                refused.append(
                    relay_error(
                        error, f"Appending to {self.topic}", Right("Write", "topic", self.topic)
                    )
                )

        producer, message = self._producer(), self.message(entry)
        try:
            producer.produce(message.topic, message.value, message.key, message.partition, report)
        except KafkaException as exc:
            raise relay_error(error_of(exc), f"Appending to {self.topic}") from exc
        if producer.flush(_APPEND_SECONDS):
            raise BrokerUnreachable(
                f"{self.topic} did not take an entry within {_APPEND_SECONDS:.0f} s."
            )
        if refused:
            raise refused[0]

    def entries(self, newest: int, subject: str | None = None) -> tuple[AuditEntry, ...]:
        """Return the newest entries, the newest first.

        Those of one subject alone where it is given.
        """
        if TopicAdmin(self._kafka).state(self.topic) is None:
            return ()
        reader = PartitionReader(self._kafka, self.topic, AuditUnreadable)
        kept: deque[AuditEntry] = deque(maxlen=newest)
        for _, value in reader.committed(*reader.ends()):
            with suppress(
                AuditUnreadable
            ):  # what is no entry was not written by a relay, and must not hide those that were
                entry = AuditEntry.from_bytes(value or b"")
                if subject is None or entry.subject == subject:
                    kept.append(entry)
        return tuple(reversed(kept))

    def _producer(self) -> Producer:
        return kafka_client(
            Producer,
            {
                **client_configuration(self._kafka),
                "enable.idempotence": True,
                "acks": "all",
                "message.timeout.ms": int(_APPEND_SECONDS * 1000),
            },
        )
