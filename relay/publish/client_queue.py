"""The client library's queue: how it is set up to keep what it takes, and how messages come into it. Both producers share it."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from confluent_kafka import KafkaException, Producer

from relay.errors import BrokerUnreachable
from relay.kafka import client_configuration
from relay.model.message import HeaderList, OutboundMessage, PrintedMessage
from relay.publish.deliveries import Deliveries
from relay.settings import KafkaSettings, TransactionSettings

# Delivery reports are served at least this often, so that the client's queue does not fill with them.
_MESSAGES_PER_POLL: Final = 500
_FULL_QUEUE_POLL_SECONDS: Final = 0.05


def queue_configuration(kafka: KafkaSettings, transaction: TransactionSettings) -> dict[str, Any]:
    """Return the client's settings for an idempotent producer that loses nothing.

    Idempotence holds the order of several requests only where the broker knows the producer already: a partition that has nothing of a
    producer yet takes any sequence number. When the first request is refused there (the broker has not made the partition, or does not
    lead it yet) and the second one is not, the first comes again as a duplicate: reported as delivered, and lost. So one is under way.
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
        "queue.buffering.max.kbytes": 65_536,
    }


def put(producer: Producer, deliveries: Deliveries, message: OutboundMessage, too_late: Callable[[], bool]) -> None:
    """Hand one message over, waiting for room. Raises KafkaException, or BrokerUnreachable when it is `too_late` to wait on."""
    topic, partition = message.topic, message.partition
    headers: HeaderList = [*message.headers]
    while True:
        try:
            producer.produce(topic, message.value, message.key, partition, deliveries.report, headers=headers)
        except BufferError as exc:
            if too_late():
                raise BrokerUnreachable("The client's queue stayed full for a transaction's time.") from exc
            producer.poll(_FULL_QUEUE_POLL_SECONDS)
        else:
            break
    _count(producer, deliveries)


def put_printed(
    producer: Producer, deliveries: Deliveries, topic: str, messages: Sequence[PrintedMessage], put_one: Callable[[OutboundMessage], None]
) -> None:
    """Hand messages of one topic over; one for which there is no room, or which is refused, goes through `put_one`."""
    produce, report = producer.produce, deliveries.report
    for value, key, headers, partition in messages:
        try:
            # By position, with no second callback and no timestamp: keyword arguments cost a tenth of the call.
            produce(topic, value, key, partition, report, None, 0, headers)
        except (BufferError, KafkaException):
            # The single message's way waits for room, or says what is wrong.
            own = tuple((name, text) for name, text in headers if isinstance(text, bytes))
            put_one(OutboundMessage(topic, partition, key, value, own))
        else:
            _count(producer, deliveries)


def _count(producer: Producer, deliveries: Deliveries) -> None:
    deliveries.sent += 1
    if deliveries.sent % _MESSAGES_PER_POLL == 0:
        producer.poll(0)
