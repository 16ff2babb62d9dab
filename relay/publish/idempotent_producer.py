"""Publishes without Kafka transactions, for clusters that forbid them: first the rows, then the
position.

After a crash between the two, the relay publishes the rows again.

A partition always contains a prefix of the messages that were sent to it, also after a failed
batch. Without this rule a partition could contain a later row and lack an earlier one. The relay
would then read both rows again, and a consumer would see the earlier row after the later one. Two
settings enforce the rule: no message ever times out (the client would send the messages after it),
and the client ends when a broker refuses a message (`enable.gapless.guarantee`).
"""

from concurrent.futures import Future
from time import monotonic
from typing import Final

from confluent_kafka import KafkaException

from relay.deadline import Deadline
from relay.errors import BrokerUnreachable
from relay.kafka import cluster_metadata, error_of, undelivered
from relay.model.message import OutboundMessage, PrintedMessages
from relay.publish.client_queue import ClientQueue
from relay.publish.committer import Committer
from relay.publish.producer import BatchProducer
from relay.publish.producer_options import producer_options
from relay.publish.topic_causes import raise_with_cause
from relay.settings import KafkaSettings, TransactionSettings

_CONNECT_SECONDS: Final = 10.0
_FLUSH_SECONDS: Final = 0.2
_WITHOUT_GAPS: Final = {
    "message.timeout.ms": 0,
    "enable.gapless.guarantee": True,
}


class IdempotentProducer(BatchProducer):
    """The BatchProducer of `delivery = "at_least_once"`.

    It fences no other producer, and messages are visible before the commit. A row that is published
    again has the same execute position.
    """

    def __init__(self, kafka: KafkaSettings, transaction: TransactionSettings, name: str) -> None:
        configuration = {
            **producer_options(kafka, transaction),
            **_WITHOUT_GAPS,
            "client.id": name,
        }
        self._queue = ClientQueue(kafka, configuration)
        self._kafka = kafka
        self._timeout_s = transaction.timeout_ms / 1000
        self._committer = Committer(name)
        self._began_s: float | None = None
        self._deletions: list[OutboundMessage] = []

    @property
    def sent_messages(self) -> int:
        """Return the number of messages in the open batch, kept deletions included."""
        return self._queue.deliveries.sent + len(self._deletions)

    @property
    def open_seconds(self) -> float:
        """Return the seconds since the first message of the batch; 0 if no batch is open."""
        return 0.0 if self._began_s is None else monotonic() - self._began_s

    def expect(self, partitions: int) -> None:
        """Set the number of partitions that share the client's queue."""
        self._queue.budget.expect(partitions)

    def open(self) -> None:
        """Connect to a broker. Raises BrokerUnreachable."""
        cluster_metadata(self._queue.producer, self._kafka, _CONNECT_SECONDS)

    def send(self, message: OutboundMessage) -> None:
        """Queue one message, which consumers can read before the commit.

        Raises the error of the refused message, or that of a full queue after the timeout.
        """
        if self._began_s is None:
            self._began_s = monotonic()
        deadline = Deadline.after(self._timeout_s)
        try:
            self._queue.put(message, lambda: deadline.passed)
        except KafkaException as exc:
            # After a refusal the client accepts no further message, so the first refusal is the
            # cause.
            self._queue.flush(_FLUSH_SECONDS)
            raise self._queue.refusal or undelivered(
                error_of(exc), f"Passing a message for {message.topic} to the Kafka client"
            ) from exc

    def send_printed(self, topic: str, messages: PrintedMessages) -> None:
        """Queue messages of one topic, which consumers can read before the commit."""
        if messages.number and self._began_s is None:
            self._began_s = monotonic()
        self._queue.put_printed(topic, messages, self.send)

    def send_deletion(self, message: OutboundMessage) -> None:
        """Keep the deletion in memory; `commit` sends it after the position record."""
        if self._began_s is None:
            self._began_s = monotonic()
        self._deletions.append(message)

    def commit(self, record: OutboundMessage) -> "Future[None]":
        """Flush the rows, then send the position record, on a thread of this producer.

        A crash between the two repeats the rows of the batch.
        """
        return self._committer.submit(lambda: self._committed(record))

    def abort(self) -> None:
        """Do nothing: sent messages cannot be withdrawn without transactions."""
        self._began_s = None

    def close(self) -> None:
        """Stop the commit thread and drop the messages that are still queued."""
        self._committer.stop()
        self._queue.purge()

    def _committed(self, record: OutboundMessage) -> None:
        try:
            self._commit(record)
        except BrokerUnreachable as exc:
            sent = {(record.topic, 0), self._queue.refused_at or (record.topic, 0)}
            raise_with_cause(exc, self._queue.producer, self._kafka, sent)

    def _commit(self, record: OutboundMessage) -> None:
        """Send rows, then the position, then deletions: a crash loses nothing, but may leave a
        record that should be deleted.
        """
        self._flush()
        self.send(record)
        self._flush()
        deletions, self._deletions = self._deletions, []
        for each in deletions:
            self.send(each)
        self._flush()
        self._began_s = None
        self._queue.begin_batch()

    def _flush(self) -> None:
        """Wait for every delivery report.

        Raises BrokerUnreachable if the brokers accept no message for the timeout of a transaction.
        """
        waiting, deadline = len(self._queue.producer), Deadline.after(self._timeout_s)
        while left := self._queue.flush(_FLUSH_SECONDS):
            if left < waiting:
                waiting, deadline = left, Deadline.after(self._timeout_s)
            elif deadline.passed:
                raise BrokerUnreachable(
                    f"The brokers accepted no message for {self._timeout_s:g} s, and {left} "
                    "messages wait."
                )
        self._queue.check()
