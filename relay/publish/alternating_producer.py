"""Publishes with two transactional ids: while Kafka commits one batch under one id, the next batch
is sent under the other id.

The rules are those of docs/delivery.md and ADR 85. Each of them has a mutation in
tests/model/two_ids.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future

from relay.errors import BatchAborted, Fenced
from relay.model.message import OutboundMessage, PrintedMessages
from relay.publish.committer import Committer
from relay.publish.producer import BatchProducer
from relay.publish.transactional_producer import TransactionalProducer
from relay.settings import KafkaSettings, TransactionSettings


class AlternatingProducer(BatchProducer):
    """The BatchProducer of `transaction.producers = 2`; used by one thread.

    Batches use the two ids alternately. The first batches of a run use the first id until one of
    them is committed. That commit fails if a newer relay has fenced the first id. So a relay that
    was suspended while its successor opened its producers is fenced before it uses the second id.
    """

    def __init__(
        self, kafka: KafkaSettings, transaction: TransactionSettings, ids: tuple[str, str]
    ) -> None:
        self._committer = Committer(ids[0])
        self._producers = tuple(
            TransactionalProducer(kafka, transaction, each, self._committer) for each in ids
        )
        self._turn = 0
        self._acknowledged = False
        self._overlapped = False
        self._session_proved = False
        self._failed: BaseException | None = None

    @property
    def sent_messages(self) -> int:
        """Return the number of messages in the open batch."""
        return self._open.sent_messages

    @property
    def open_seconds(self) -> float:
        """Return the seconds since the transaction of the open batch began; 0 if none is open."""
        return self._open.open_seconds

    @property
    def longest_open_seconds(self) -> float:
        """Return the seconds since the older open transaction began; 0 if none is open."""
        return max(each.open_seconds for each in self._producers)

    @property
    def overlaps(self) -> bool:
        """Return whether the brokers have acknowledged every message of the last batch."""
        return self._acknowledged

    @property
    def needs_barrier(self) -> bool:
        """Return whether both ids had batches since the last barrier.

        Kafka may then write the transaction markers of one id later than those of the other id.
        """
        return self._overlapped

    def expect(self, partitions: int) -> None:
        """Set the number of partitions that share the client's queue."""
        for each in self._producers:
            each.expect(partitions)

    def open(self) -> None:
        """Fence every older producer of both ids, always in the same order.

        Raises BrokerUnreachable, TransactionsRefused, KafkaNotPermitted.
        """
        for each in self._producers:
            each.open()

    def send(self, message: OutboundMessage) -> None:
        """Queue one message in the open batch."""
        self._open.send(message)

    def send_printed(self, topic: str, messages: PrintedMessages) -> None:
        """Queue messages of one topic in the open batch."""
        self._open.send_printed(topic, messages)

    def send_deletion(self, message: OutboundMessage) -> None:
        """Queue the deletion of a record, which becomes visible with the position record."""
        self._open.send_deletion(message)

    def commit(self, record: OutboundMessage) -> "Future[None]":
        """Queue the position record, then commit on a thread of this producer.

        The next batch uses the same id. The transaction coordinator lets it begin when the markers
        of this batch are in all partitions.
        """
        return self._close(self._open, record, None)

    def commit_overlapping(
        self, record: OutboundMessage, free: Callable[[], object]
    ) -> "Future[None]":
        """Queue the position record, then commit on a thread of this producer, after earlier
        commits.

        The next batch uses the other id.
        """
        if not self._session_proved:
            return self.commit(record)
        committed = self._close(self._open, record, free)
        self._turn = 1 - self._turn
        self._overlapped = True
        return committed

    def commit_barrier(
        self, record: OutboundMessage, beside: Sequence[OutboundMessage]
    ) -> "Future[None]":
        """Commit the position record and the messages `beside` under the id that the next batch
        does not use.

        The coordinator lets an id begin a transaction only after the markers of its previous
        transaction are in all partitions. This transaction proves that for its own id, and the next
        batch proves it for the other id.
        """
        self._overlapped = False
        other = self._producers[1 - self._turn]
        for each in beside:
            other.send(each)
        return self._close(other, record, None)

    def abort(self) -> None:
        """Abort the open transactions; do nothing if Kafka has none.

        Raises Fenced if a newer producer exists, and BatchAborted if the broker did not answer.
        """
        failures = [failure for each in self._producers if (failure := _abort(each))]
        for failure in sorted(failures, key=lambda each: not isinstance(each, Fenced)):
            raise failure

    def close(self) -> None:
        """Stop the commit thread and drop queued messages. The brokers abort the open
        transactions.
        """
        for each in self._producers:
            each.close()

    @property
    def _open(self) -> TransactionalProducer:
        return self._producers[self._turn]

    def _close(
        self,
        producer: TransactionalProducer,
        record: OutboundMessage,
        free: Callable[[], object] | None,
    ) -> "Future[None]":
        producer.send(record)
        self._acknowledged = False
        return self._committer.submit(lambda: self._commit(producer, record.topic, free))

    def _commit(
        self,
        producer: TransactionalProducer,
        record_topic: str,
        free: Callable[[], object] | None,
    ) -> None:
        """Commit one batch, on the commit thread. After a failed batch, no further batch is
        committed.
        """
        if self._failed is not None:
            raise self._failed
        try:
            if free is not None and producer.acknowledged():
                self._acknowledged = True
                free()
            producer.finish(record_topic)
        except BaseException as exc:
            self._failed = exc
            raise
        self._session_proved = True


def _abort(producer: TransactionalProducer) -> Fenced | BatchAborted | None:
    try:
        producer.abort()
    except (Fenced, BatchAborted) as exc:
        return exc
    return None
