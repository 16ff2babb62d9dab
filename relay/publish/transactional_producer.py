"""One Kafka transaction per batch: rows and position become visible together, and only the newest
producer may.

The rules are librdkafka's transactional producer API (its INTRODUCTION, "Transactional Producer")
and docs/delivery.md.
"""

import threading
from concurrent.futures import Future
from time import monotonic
from typing import Final

from confluent_kafka import KafkaError, KafkaException

from relay.deadline import Deadline
from relay.errors import (
    BatchAborted,
    BrokerUnreachable,
    ClockAhead,
    Fenced,
    KafkaNotPermitted,
    RelayError,
    TopicRefused,
)
from relay.kafka import (
    Right,
    TopicAdmin,
    cluster_metadata,
    error_of,
    kafka_errors,
    relay_error,
    transaction_timeout_error,
)
from relay.model.message import OutboundMessage, PrintedMessages
from relay.publish.client_queue import ClientQueue, queue_configuration
from relay.publish.committer import Committer
from relay.publish.topic_causes import raise_with_cause
from relay.settings import KafkaSettings, TransactionSettings

_INIT_SECONDS: Final = 10.0
_ABORT_SECONDS: Final = 5.0
_ASK_SECONDS: Final = 2.0
_MARKERS_SECONDS: Final = 0.002
"""The coordinator answers a commit before its markers are written.

Who begins the next transaction meanwhile is turned away, and librdkafka asks again only 20 ms later
(rdkafka_txnmgr.c, CONCURRENT_TRANSACTIONS): at 500 small transactions a second that met 4 of 100
commits.
"""
_NOTHING_OPEN: Final = "INVALID_TXN_STATE"
"""What the coordinator says to an abort when none of the batch has reached it yet."""

_ENDED: Final = frozenset({"_FATAL", "_STATE"})


class TransactionalProducer:
    """The BatchProducer that keeps every promise.

    `transactional_id` is a pure function of installation and instance.
    """

    def __init__(
        self, kafka: KafkaSettings, transaction: TransactionSettings, transactional_id: str
    ) -> None:
        self._queue = ClientQueue(
            kafka,
            {
                **queue_configuration(kafka, transaction),
                "transactional.id": transactional_id,
                "transaction.timeout.ms": transaction.timeout_ms,
                "queue.buffering.max.messages": 200_000,
            },
            commits_tell=True,
        )
        self._kafka = kafka
        self._right = Right("Write", "transactional-id", transactional_id)
        self._timeout_ms = transaction.timeout_ms
        self._timeout_s = transaction.timeout_ms / 1000
        self._committer = Committer(transactional_id)
        self._rest = threading.Event()  # never set
        self._began_s: float | None = None
        self._broken: RelayError | None = None
        self._topics: set[str] = set()

    @property
    def sent_messages(self) -> int:
        """Return the messages of the open transaction."""
        return self._queue.deliveries.sent

    @property
    def open_seconds(self) -> float:
        """Return the seconds since the transaction began; 0 if none is open."""
        return 0.0 if self._began_s is None else monotonic() - self._began_s

    def expect(self, partitions: int) -> None:
        """Divide the space for unconfirmed messages among so many partitions."""
        self._queue.budget.expect(partitions)

    def open(self) -> None:
        """Fence every older producer of this id.

        Raises BrokerUnreachable, TransactionsRefused, KafkaNotPermitted.
        """
        try:
            self._queue.producer.init_transactions(_INIT_SECONDS)
        except KafkaException as exc:
            raise self._opening_error(error_of(exc)) from exc

    def send(self, message: OutboundMessage) -> None:
        """Queue one message in the transaction, and begin a transaction if none is open.

        After an error the transaction cannot be committed, because the message is missing.
        """
        if self._began_s is None:
            self._begin()
        self._topics.add(message.topic)
        deadline = Deadline.after(self._timeout_s)
        try:
            self._queue.put(message, lambda: deadline.passed)
        except RelayError as exc:
            self._broken = exc
            raise
        except KafkaException as exc:
            # A message that was refused here is not part of the transaction, yet the commit would
            # succeed without it.
            self._broken = self._refusal(
                error_of(exc), f"Handing a message for {message.topic} over"
            )
            raise self._broken from exc

    def send_printed(self, topic: str, messages: PrintedMessages) -> None:
        """Queue messages of one topic in the transaction, and begin one if none is open."""
        if messages.number and self._began_s is None:
            self._begin()
        self._topics.add(topic)
        self._queue.put_printed(topic, messages, self.send)

    def send_deletion(self, message: OutboundMessage) -> None:
        """Queue the deletion, which becomes visible with the position record."""
        self.send(message)  # it becomes visible with the position record

    def commit(self, record: OutboundMessage) -> "Future[None]":
        """Queue the position record, then commit on a thread of this producer."""
        self.send(record)
        return self._committer.submit(lambda: self._commit(record.topic))

    def abort(self) -> None:
        """Abort the open transaction; do nothing if Kafka knows none.

        Raises Fenced if a newer producer exists, and BatchAborted if the broker did not answer.
        The broker then aborts the transaction after its timeout.
        """
        if self._began_s is None:
            return
        self._began_s = None
        try:
            self._queue.producer.abort_transaction(_ABORT_SECONDS)
        except KafkaException as exc:
            if error_of(exc).name() == _NOTHING_OPEN:
                return
            error = relay_error(error_of(exc), "Aborting")
            if isinstance(error, Fenced):
                raise error from exc
            raise BatchAborted(
                f"The abort was not answered ({error_of(exc).name()}); the broker ends the "
                f"transaction by its timeout."
            ) from exc

    def close(self) -> None:
        """Stop the commit thread and drop queued messages. The broker aborts what is open."""
        self._committer.stop()
        self._queue.purge()

    def _opening_error(self, error: KafkaError) -> RelayError:
        """The client says little about why it could not begin; the brokers say more when asked."""
        found = relay_error(error, "Opening the transactional producer", self._right)
        try:
            if isinstance(found, BrokerUnreachable):
                cluster_metadata(self._queue.producer, self._kafka, _ASK_SECONDS)
            if error.name() == "INVALID_TRANSACTION_TIMEOUT":
                return (
                    transaction_timeout_error(
                        self._timeout_ms, TopicAdmin(self._kafka).broker_settings()
                    )
                    or found
                )
        except BrokerUnreachable as exc:
            return exc
        except RelayError:  # who may not ask gets the client's words
            return found
        return found

    def _refusal(self, error: KafkaError, doing: str) -> RelayError:
        """Return why a message was not taken.

        The client says only that nothing more can be; a call about transactions says why.
        """
        if error.name() in _ENDED:
            try:
                self._queue.producer.begin_transaction()
            except KafkaException as exc:
                return relay_error(error_of(exc), doing)
        return relay_error(error, doing)

    def _begin(self) -> None:
        with kafka_errors("Beginning a transaction"):
            self._queue.producer.begin_transaction()
        self._began_s = monotonic()
        self._topics.clear()
        self._queue.begin_batch()

    def _commit(self, record_topic: str) -> None:
        """Commit, and after a timeout again: no other call may follow an unanswered commit."""
        try:
            self._commit_now()
        except (BrokerUnreachable, KafkaNotPermitted, TopicRefused) as exc:
            sent = {(topic, 0) for topic in (record_topic, *self._topics)} | {
                self._queue.refused_at or (record_topic, 0)
            }
            raise_with_cause(exc, self._queue.producer, self._kafka, sent)

    def _commit_now(self) -> None:
        if self._broken is not None:
            raise self._broken
        while True:
            try:
                self._queue.producer.commit_transaction(-1)
            except KafkaException as exc:
                if error_of(exc).retriable():
                    continue
                error = relay_error(error_of(exc), "Committing")
                # Why a message was refused says more than the commit that fails with it; a fence
                # and a wrong clock say more than both.
                raise (
                    error
                    if isinstance(error, Fenced | ClockAhead)
                    else self._queue.refusal or error
                ) from exc
            break
        self._began_s = None
        self._queue.check()
        self._queue.begin_batch()
        self._rest.wait(_MARKERS_SECONDS)
