"""For clusters that forbid transactions: rows first, then the position; a crash between the two repeats rows."""

from collections.abc import Sequence
from concurrent.futures import Future
from time import monotonic
from typing import Final

from confluent_kafka import KafkaException, Producer

from relay.kafka import cluster_metadata, error_of, relay_error
from relay.model.message import OutboundMessage, PrintedMessage
from relay.publish.client_queue import put, put_printed, queue_configuration
from relay.publish.committer import Committer
from relay.publish.deliveries import Deliveries
from relay.settings import KafkaSettings, TransactionSettings

_CONNECT_SECONDS: Final = 10.0


class IdempotentProducer:
    """The BatchProducer of `delivery = "at_least_once"`: no fence, nothing whole, repeats carry the same execute position."""

    def __init__(self, kafka: KafkaSettings, transaction: TransactionSettings, name: str) -> None:
        self._producer = Producer({**queue_configuration(kafka, transaction), "client.id": name})
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
            put(self._producer, self._deliveries, message, lambda: self.open_seconds > 2 * self._timeout_s)
        except KafkaException as exc:
            raise relay_error(error_of(exc), f"Handing a message for {message.topic} over") from exc

    def send_printed(self, topic: str, messages: Sequence[PrintedMessage]) -> None:
        if messages and self._began_s is None:
            self._began_s = monotonic()
        put_printed(self._producer, self._deliveries, topic, messages, self.send)

    def commit(self, record: OutboundMessage) -> "Future[None]":
        return self._committer.submit(lambda: self._commit(record))

    def abort(self) -> None:
        """Nothing can be taken back without transactions."""
        self._began_s = None

    def close(self) -> None:
        self._committer.stop()
        self._producer.purge(in_queue=True, in_flight=True, blocking=False)

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
