"""For clusters that forbid transactions: rows first, then the position; a crash between the two repeats rows."""

from concurrent.futures import Future
from time import monotonic
from typing import Final

from confluent_kafka import KafkaException

from relay.kafka import cluster_metadata, error_of, relay_error
from relay.model.message import OutboundMessage, Printed
from relay.publish.client_queue import ClientQueue, queue_configuration
from relay.publish.committer import Committer
from relay.settings import KafkaSettings, TransactionSettings

_CONNECT_SECONDS: Final = 10.0


class IdempotentProducer:
    """The BatchProducer of `delivery = "at_least_once"`: no fence, nothing whole, repeats carry the same execute position."""

    def __init__(self, kafka: KafkaSettings, transaction: TransactionSettings, name: str) -> None:
        self._queue = ClientQueue(kafka, {**queue_configuration(kafka, transaction), "client.id": name})
        self._kafka = kafka
        self._timeout_s = transaction.timeout_ms / 1000
        self._committer = Committer(name)
        self._began_s: float | None = None

    @property
    def sent_messages(self) -> int:
        return self._queue.deliveries.sent

    @property
    def open_seconds(self) -> float:
        return 0.0 if self._began_s is None else monotonic() - self._began_s

    def expect(self, partitions: int) -> None:
        self._queue.room.expect(partitions)

    def open(self) -> None:
        """Reach a broker. Raises BrokerUnreachable."""
        cluster_metadata(self._queue.producer, self._kafka, _CONNECT_SECONDS)

    def send(self, message: OutboundMessage) -> None:
        if self._began_s is None:
            self._began_s = monotonic()
        try:
            self._queue.put(message, lambda: self.open_seconds > 2 * self._timeout_s)
        except KafkaException as exc:
            raise relay_error(error_of(exc), f"Handing a message for {message.topic} over") from exc

    def send_printed(self, topic: str, messages: Printed) -> None:
        if messages.number and self._began_s is None:
            self._began_s = monotonic()
        self._queue.put_printed(topic, messages, self.send)

    def commit(self, record: OutboundMessage) -> "Future[None]":
        return self._committer.submit(lambda: self._commit(record))

    def abort(self) -> None:
        """Nothing can be taken back without transactions."""
        self._began_s = None

    def close(self) -> None:
        self._committer.stop()
        self._queue.purge()

    def _commit(self, record: OutboundMessage) -> None:
        self._flush()
        self.send(record)
        self._flush()
        self._began_s = None
        self._queue.begin_batch()

    def _flush(self) -> None:
        """Wait for every report; message.timeout.ms ends the waiting."""
        while self._queue.producer.flush(1.0) > 0:
            continue
        self._queue.check()
