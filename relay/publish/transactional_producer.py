"""Uses one Kafka transaction per batch: rows and position become visible together, and older
producers are fenced.

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
)
from relay.kafka import (
    Right,
    TopicAdmin,
    cluster_metadata,
    error_of,
    kafka_errors,
    relay_error,
    transaction_timeout_error,
    undelivered,
)
from relay.model.message import OutboundMessage, PrintedMessages
from relay.publish.client_queue import ClientQueue
from relay.publish.committer import Committer
from relay.publish.producer import BatchProducer
from relay.publish.producer_options import producer_options
from relay.publish.topic_causes import raise_with_cause
from relay.settings import KafkaSettings, TransactionSettings

_INIT_SECONDS: Final = 10.0
_ABORT_SECONDS: Final = 5.0
_ASK_SECONDS: Final = 2.0
_MARKERS_SECONDS: Final = 0.002
"""Pause in seconds after a commit, because the coordinator answers a commit before it has written
the transaction markers.

The coordinator refuses a transaction that begins before that, and librdkafka retries only 20 ms
later (rdkafka_txnmgr.c, CONCURRENT_TRANSACTIONS). Without the pause this happened after 4 of 100
commits, at 500 small transactions a second.
"""
_ACKNOWLEDGED_SECONDS: Final = 0.001
_NO_PROGRESS_SECONDS: Final = 0.25
_NOTHING_OPEN: Final = "INVALID_TXN_STATE"
"""The coordinator's error for an abort if no message of the batch has reached it yet."""

_ENDED: Final = frozenset({"_FATAL", "_STATE"})


class TransactionalProducer(BatchProducer):
    """The BatchProducer of exactly-once delivery (`delivery = "exactly_once"`).

    `transactional_id` depends only on installation and instance. `committer` runs the commits of
    several producers in order; None: this producer has its own.
    """

    def __init__(
        self,
        kafka: KafkaSettings,
        transaction: TransactionSettings,
        transactional_id: str,
        committer: Committer | None = None,
    ) -> None:
        self._queue = ClientQueue(
            kafka,
            {
                **producer_options(kafka, transaction),
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
        self._committer = committer or Committer(transactional_id)
        self._rest = threading.Event()  # no code sets this event; it is a timer
        self._rested_at_s = 0.0
        self._began_s: float | None = None
        self._broken: RelayError | None = None
        self._topics: set[str] = set()

    @property
    def sent_messages(self) -> int:
        """Return the number of messages in the open transaction."""
        return self._queue.deliveries.sent

    @property
    def open_seconds(self) -> float:
        """Return the seconds since the transaction began; 0 if none is open."""
        return 0.0 if self._began_s is None else monotonic() - self._began_s

    def expect(self, partitions: int) -> None:
        """Set the number of partitions that share the client's queue."""
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
            # This message was refused here and is not part of the transaction. Without this error
            # the commit would succeed without it.
            self._broken = self._refusal(
                error_of(exc), f"Passing a message for {message.topic} to the Kafka client"
            )
            raise self._broken from exc

    def send_printed(self, topic: str, messages: PrintedMessages) -> None:
        """Queue messages of one topic in the transaction, and begin one if none is open."""
        if messages.number and self._began_s is None:
            self._begin()
        self._topics.add(topic)
        self._queue.put_printed(topic, messages, self.send)

    def send_deletion(self, message: OutboundMessage) -> None:
        """Queue the deletion of a record, which becomes visible with the position record."""
        self.send(message)  # it becomes visible with the position record

    def commit(self, record: OutboundMessage) -> "Future[None]":
        """Queue the position record, then commit on a thread of this producer."""
        self.send(record)
        return self._committer.submit(lambda: self._finish_and_rest(record.topic))

    def acknowledged(self) -> bool:
        """Wait until the broker has every message of the open transaction.

        Return False if the broker refused a message, or acknowledged none for a while. The commit
        that follows raises the reason. In some states the client sends nothing more, and only a
        commit ends that state.
        """
        waiting, deadline = len(self._queue.producer), Deadline.after(_NO_PROGRESS_SECONDS)
        try:
            while left := self._queue.flush(_ACKNOWLEDGED_SECONDS):
                if left < waiting:
                    waiting, deadline = left, Deadline.after(_NO_PROGRESS_SECONDS)
                elif deadline.passed:
                    return False
        except RelayError:  # the client has ended; the commit raises the cause
            return False
        return self._broken is None and self._queue.refusal is None

    def finish(self, record_topic: str) -> None:
        """Commit the open transaction, to which the position record was already sent.

        Repeat the commit after a timeout, because no other call may follow an unanswered commit.
        Blocks until the commit is answered, and raises its error.
        """
        try:
            self._commit_now()
        except (BrokerUnreachable, KafkaNotPermitted) as exc:
            sent = {(topic, 0) for topic in (record_topic, *self._topics)} | {
                self._queue.refused_at or (record_topic, 0)
            }
            raise_with_cause(exc, self._queue.producer, self._kafka, sent)
        self._rested_at_s = monotonic() + _MARKERS_SECONDS

    def abort(self) -> None:
        """Abort the open transaction; do nothing if Kafka has none.

        Raises Fenced if a newer producer exists, and BatchAborted if the broker did not answer. The
        broker then aborts the transaction after its timeout.
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
                f"Kafka did not answer the abort ({error_of(exc).name()}); the broker aborts "
                "the transaction after transaction.timeout_ms."
            ) from exc

    def close(self) -> None:
        """Stop the commit thread and drop queued messages.

        The broker aborts the open transaction.
        """
        self._committer.stop()
        self._queue.purge()

    def _opening_error(self, error: KafkaError) -> RelayError:
        """Return a more specific error if the brokers show why a transaction could not begin.

        The client's own error has little detail.
        """
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
        except RelayError:  # the relay may not read the brokers' settings: keep the client's error
            return found
        return found

    def _refusal(self, error: KafkaError, doing: str) -> RelayError:
        """Return why a message was not accepted.

        The client only reports that it accepts no more messages; a call about transactions returns
        the reason.
        """
        if error.name() in _ENDED:
            try:
                self._queue.producer.begin_transaction()
            except KafkaException as exc:
                return undelivered(error_of(exc), doing)
        return undelivered(error, doing)

    def _begin(self) -> None:
        self._await_markers()
        with kafka_errors("Beginning a transaction"):
            self._queue.producer.begin_transaction()
        self._began_s = monotonic()
        self._topics.clear()
        self._queue.begin_batch()

    def _finish_and_rest(self, record_topic: str) -> None:
        self.finish(record_topic)
        self._await_markers()

    def _await_markers(self) -> None:
        if (left_s := self._rested_at_s - monotonic()) > 0:
            self._rest.wait(left_s)

    def _commit_now(self) -> None:
        if self._broken is not None:
            raise self._broken
        while True:
            try:
                self._queue.producer.commit_transaction(-1)
            except KafkaException as exc:
                if error_of(exc).retriable():
                    continue
                error = undelivered(error_of(exc), "Committing")
                # The reason of a refused message is more useful than the error of the commit. A
                # fence or a wrong clock is more useful than both.
                raise (
                    error
                    if isinstance(error, Fenced | ClockAhead)
                    else self._queue.refusal or error
                ) from exc
            break
        self._began_s = None
        self._queue.check()
        self._queue.begin_batch()
