"""For clusters that forbid transactions: rows first, then the position; a crash between the two repeats rows."""

from collections.abc import Sequence
from concurrent.futures import Future
from time import monotonic
from typing import Final

from confluent_kafka import KafkaException, Producer

from relay.errors import BrokerUnreachable
from relay.kafka import client_configuration, cluster_metadata, error_of, relay_error
from relay.model.message import OutboundMessage, PrintedMessage
from relay.publish.committer import Committer
from relay.publish.deliveries import ONE_UNDER_WAY, Deliveries
from relay.settings import KafkaSettings, TransactionSettings

_MESSAGES_PER_POLL: Final = 500
_FULL_QUEUE_POLL_SECONDS: Final = 0.05
_CONNECT_SECONDS: Final = 10.0


class IdempotentProducer:
    """The BatchProducer of `delivery = "at_least_once"`: no fence, nothing whole, repeats carry the same execute position."""

    def __init__(self, kafka: KafkaSettings, transaction: TransactionSettings, name: str) -> None:
        self._producer = Producer(
            {
                **client_configuration(kafka),
                "client.id": name,
                "enable.idempotence": True,
                "delivery.report.only.error": True,
                **ONE_UNDER_WAY,
                "acks": "all",
                "compression.type": kafka.compression,
                "batch.size": kafka.batch_bytes,
                "linger.ms": kafka.linger_ms,
                "message.max.bytes": kafka.message_max_bytes,
                "message.timeout.ms": transaction.timeout_ms,
                "queue.buffering.max.kbytes": 65_536,
            }
        )
        self._kafka = kafka
        self._timeout_s = transaction.timeout_ms / 1000
        self._committer = Committer(name)
        self._deliveries = Deliveries()
        self._began_s: float | None = None

    @property
    def sent_messages(self) -> int:
        return self._deliveries.sent

    @property
    def open_seconds(self) -> float:
        return 0.0 if self._began_s is None else monotonic() - self._began_s

    def open(self) -> None:
        """Reach a broker. Raises BrokerUnreachable."""
        cluster_metadata(self._producer, self._kafka, _CONNECT_SECONDS)

    def send(self, message: OutboundMessage) -> None:
        if self._began_s is None:
            self._began_s = monotonic()
        try:
            self._produce(message)
        except KafkaException as exc:
            raise relay_error(error_of(exc), f"Handing a message for {message.topic} over") from exc
        self._deliveries.sent += 1
        if self._deliveries.sent % _MESSAGES_PER_POLL == 0:
            self._producer.poll(0)

    def send_printed(self, topic: str, messages: Sequence[PrintedMessage]) -> None:
        if messages and self._began_s is None:
            self._began_s = monotonic()
        deliveries = self._deliveries
        produce, report = self._producer.produce, deliveries.report
        for value, key, headers, partition in messages:
            try:
                # By position, with no second callback and no timestamp: keyword arguments cost a tenth of the call.
                produce(topic, value, key, partition, report, None, 0, headers)
            except (BufferError, KafkaException):
                # The single message's way waits for room, or says what is wrong.
                own = tuple((name, text) for name, text in headers if isinstance(text, bytes))
                self.send(OutboundMessage(topic, partition, key, value, own))
                continue
            deliveries.sent += 1
            if deliveries.sent % _MESSAGES_PER_POLL == 0:
                self._producer.poll(0)

    def commit(self, record: OutboundMessage) -> "Future[None]":
        return self._committer.submit(lambda: self._commit(record))

    def abort(self) -> None:
        """Nothing can be taken back without transactions."""
        self._began_s = None

    def close(self) -> None:
        self._committer.stop()
        self._producer.purge(in_queue=True, in_flight=True, blocking=False)

    def _produce(self, message: OutboundMessage) -> None:
        while True:
            try:
                self._producer.produce(
                    message.topic, message.value, message.key, message.partition, self._deliveries.report, headers=list(message.headers)
                )
                return
            except BufferError:
                if self.open_seconds > 2 * self._timeout_s:
                    raise BrokerUnreachable("The client's queue stayed full for a transaction's time.") from None
                self._producer.poll(_FULL_QUEUE_POLL_SECONDS)

    def _commit(self, record: OutboundMessage) -> None:
        self._flush()
        self.send(record)
        self._flush()
        self._began_s = None
        self._deliveries = Deliveries()

    def _flush(self) -> None:
        """Wait for every report; message.timeout.ms ends the waiting."""
        while self._producer.flush(1.0) > 0:
            continue
        self._deliveries.check(len(self._producer))
