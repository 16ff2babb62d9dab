"""The options of the Kafka producers, which prevent loss and reordering of messages."""

from typing import Any

from relay.kafka import client_configuration
from relay.publish.queue_budget import most_bytes
from relay.settings import KafkaSettings, TransactionSettings


def producer_options(kafka: KafkaSettings, transaction: TransactionSettings) -> dict[str, Any]:
    """Return the client's settings for an idempotent producer that loses no message.

    The settings allow only one request in flight. Idempotence keeps the order of several requests
    only if the broker already has state of the producer: a partition without such state accepts any
    sequence number. A broker that has not created the partition yet, or does not lead it yet, can
    refuse the first request and then accept the second one. The client repeats the first request,
    and the broker takes it for a duplicate: it reports the messages as delivered, and they are
    lost.
    """
    return {
        **client_configuration(kafka),
        "enable.idempotence": True,
        "max.in.flight.requests.per.connection": 1,
        "acks": "all",
        "delivery.report.only.error": True,
        "message.timeout.ms": transaction.timeout_ms,
        "compression.type": kafka.compression,
        "batch.size": kafka.batch_bytes,
        "linger.ms": kafka.linger_ms,
        "message.max.bytes": kafka.message_max_bytes,
        "queue.buffering.max.kbytes": most_bytes(kafka) // 1000,
    }
