"""Writes records that the service could not process, unchanged, to the client's own topic for dead
letters.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from roma_client.errors import ClientError, DeadLetterFailed
from roma_client.kafka.failures import error_of
from roma_client.kafka.topics import present_topics
from roma_client.log import log_event
from roma_client.metrics import Metrics
from roma_client.records.record import Record

_SEND_SECONDS: Final = 30.0
_REASON_CHARACTERS: Final = 2000
_LARGEST_BYTES: Final = 1_000_000_000
"""The largest message of librdkafka. Topics of the relay may accept more than Kafka's default."""


class DeadLetterTopic:
    """Writes dead letters, and creates the topic when the first one is written. Thread-safe.

    The client acknowledges the changes of a dead letter, so they are not delivered again. Therefore
    the topic has no retention limit: Kafka keeps a dead letter until an operator deletes it. A dead
    letter has key, value and headers of its record, and the headers `dead-letter-topic`,
    `dead-letter-partition`, `dead-letter-offset`, `dead-letter-group` and `dead-letter-reason`.
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
        answers: list[KafkaError | None] = []
        try:
            producer = self._opened()
            producer.produce(
                self.topic,
                record.value,
                record.key,
                headers=[*record.headers, *self._headers(record, reason)],
                on_delivery=lambda error, _: answers.append(error),
            )
            producer.flush(_SEND_SECONDS)
        except (KafkaException, BufferError, ClientError) as exc:
            told = exc.reason if isinstance(exc, ClientError) else str(exc)
            raise self._failed(record, told) from exc
        if not answers or answers[0] is not None:  # letters of other threads do not count
            raise self._failed(record, answers[0] if answers else "no answer in time")

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
            own = {"enable.idempotence": True, "log_level": 0, "linger.ms": 0}
            self._producer = Producer({"message.max.bytes": _LARGEST_BYTES, **self._kafka, **own})
        return self._producer

    def _make_topic(self) -> None:
        """Create the topic if it is missing. A client without the right to create topics can use
        one that exists.
        """
        if present_topics(self._kafka, [self.topic]):
            return
        admin = AdminClient(self._kafka)  # must live until the answer
        kept = {
            "retention.ms": "-1",
            "cleanup.policy": "delete",
            "max.message.bytes": str(_LARGEST_BYTES),
        }
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


def store_corrupt(
    letters: DeadLetterTopic, metrics: Metrics, record: Record, exc: ClientError
) -> None:
    """Store a record that is no message of the relay, or whose claim is gone; count and log it.

    Raises DeadLetterFailed.
    """
    letters.store(record, str(exc))
    metrics.happened("corrupt")
    at = (*record.source_partition, record.offset)
    log_event(logging.WARNING, "corrupt_record_stored", at=at, reason=exc)
