"""What Kafka's client returns: records, events that it recovers from, and errors."""

import logging
from collections.abc import Sequence
from typing import Any

from confluent_kafka import Message

from roma_client.errors import ClientError
from roma_client.kafka.failures import client_error, is_passing
from roma_client.log import log_event
from roma_client.records.record import Record


def sorted_out(messages: Sequence[Message]) -> tuple[list[Record], list[ClientError]]:
    """Return all records of an answer, also those behind an error, and the errors.

    What Kafka's client recovers from by itself is only logged.
    """
    records: list[Record] = []
    failures: list[ClientError] = []
    for message in messages:
        error = message.error()
        if error is None:
            records.append(_record(message))
        elif is_passing(error):
            log_event(logging.INFO, "kafka_event", reason=error)
        else:
            where = f"topic {message.topic()}, partition {message.partition()}"
            failures.append(client_error(error, where))
    return records, failures


def _record(message: Message) -> Record:
    headers: Any = message.headers() or ()
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    assert topic is not None  # noqa: S101  # a message without an error has a place
    assert partition is not None and offset is not None  # noqa: S101, PT018
    _, timestamp_ms = message.timestamp()
    return Record(
        topic, partition, offset, message.key(), message.value(), headers, timestamp_ms / 1000
    )
