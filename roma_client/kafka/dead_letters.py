"""The client's own topic for dead letters: records that the service could not process,
unchanged.
"""

from collections.abc import Mapping
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from roma_client.errors import DeadLetterFailed
from roma_client.kafka.failures import error_of
from roma_client.records.record import Record

_SEND_SECONDS: Final = 30.0
_REASON_CHARACTERS: Final = 2000


class DeadLetterTopic:
    """Writes dead letters, and creates the topic when the first one is written. Thread-safe.

    Kafka keeps dead letters until an operator deletes them, because they were acknowledged. A dead
    letter has key, value and headers of its record, and the headers `dead-letter-topic`,
    `-partition`, `-offset`, `-group` and `-reason`.
    """

    def __init__(self, kafka: Mapping[str, Any], topic: str, group: str) -> None:
        self.topic = topic
        self._group = group
        self._kafka = dict(kafka)
        self._producer: Producer | None = None

    def store(self, record: Record, reason: str) -> None:
        """Write a record as a dead letter and wait until the brokers have it. Raises
        DeadLetterFailed.
        """
        failures: list[KafkaError] = []
        try:
            producer = self._opened()
            producer.produce(
                self.topic,
                record.value,
                record.key,
                headers=[*record.headers, *self._headers(record, reason)],
                on_delivery=lambda error, _: failures.append(error) if error else None,
            )
            left = producer.flush(_SEND_SECONDS)
        except (KafkaException, BufferError) as exc:
            raise self._failed(record, exc) from exc
        if failures or left:
            raise self._failed(record, failures[0] if failures else "no answer in time")

    def _headers(self, record: Record, reason: str) -> list[tuple[str, bytes]]:
        told = {
            "topic": record.topic,
            "partition": str(record.partition),
            "offset": str(record.offset),
            "group": self._group,
            "reason": reason[:_REASON_CHARACTERS],
        }
        return [(f"dead-letter-{name}", text.encode()) for name, text in told.items()]

    def _opened(self) -> Producer:
        if self._producer is None:
            self._make_topic()
            self._producer = Producer(
                {**self._kafka, "enable.idempotence": True, "log_level": 0, "linger.ms": 0}
            )
        return self._producer

    def _make_topic(self) -> None:
        admin = AdminClient(self._kafka)  # must live until the answer
        kept = {"retention.ms": "-1", "cleanup.policy": "delete"}
        made = admin.create_topics([NewTopic(self.topic, 1, config=kept)])
        try:
            made[self.topic].result(_SEND_SECONDS)
        except KafkaException as exc:
            if error_of(exc).code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise

    def _failed(self, record: Record, reason: object) -> DeadLetterFailed:
        return DeadLetterFailed(
            f"Record {record.offset} of {record.topic}, partition {record.partition}, could not "
            f"be stored in {self.topic}: {reason}."
        )
