"""Commits acknowledged offsets. If the broker accepts a commit, that also proves that the client is
in the group.
"""

import logging
import time
from collections.abc import Callable, Sequence
from typing import Final

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from roma_client.kafka.failures import error_of, is_late
from roma_client.kafka.membership import Lease
from roma_client.kafka.options import FeedOptions
from roma_client.log import log_event
from roma_client.metrics import Metrics
from roma_client.records.ack_book import AckBook
from roma_client.records.order_guard import Partition

COMMIT_SECONDS: Final = 1.0
"""Seconds between two commits. Offsets are also committed when partitions are revoked."""
_PROOF_SECONDS: Final = 0.2
"""Pause between two attempts to renew the lease."""


class Commits:
    """Commits the acknowledged offsets of an AckBook. Used by the feed's thread, except `holds`.

    `note` returns the metadata for a commit of an offset. `on_removed` is called when the broker
    answers that the group no longer has this client.
    """

    def __init__(
        self,
        consumer: Consumer,
        options: FeedOptions,
        book: AckBook,
        metrics: Metrics,
        note: Callable[[Partition, int], str],
        on_removed: Callable[[], None],
    ) -> None:
        self._consumer = consumer
        self._group = options.group
        self._book = book
        self._metrics = metrics
        self._note = note
        self._on_removed = on_removed
        self._lease = Lease(options.session_timeout_seconds)
        self._sent: dict[Partition, tuple[int, str]] = {}
        """Offset and metadata of each partition's newest commit that did not fail."""
        self._commit_due = self._proof_due = time.monotonic()

    @property
    def holds(self) -> bool:
        """Return whether a recent commit proves that no other client has the partitions.

        Safe in any thread.
        """
        return self._lease.holds

    @property
    def due_at(self) -> float:
        """The time at which the next commit must be sent, to store offsets or to prove the
        membership (`time.monotonic`).
        """
        return min(self._commit_due, self._lease.fresh_until)

    def prove(self) -> None:
        """Send a commit if the last proof of membership is old. If the broker accepts it, it is a
        new proof. No messages are polled.
        """
        is_old = self._lease.is_old and bool(self._book.partitions())
        if is_old and time.monotonic() >= self._proof_due:
            self.commit(wait=True)
            self._proof_due = time.monotonic() + _PROOF_SECONDS

    def commit_when_due(self) -> None:
        """Commit and report the lag, if COMMIT_SECONDS have passed since the last commit."""
        if time.monotonic() >= self._commit_due:
            self.commit()
            self._show_lag()

    def commit(self, *, wait: bool = False) -> bool:
        """Commit the acknowledged offsets. With `wait`, return whether the broker accepted the
        commit.

        Without `wait`, return whether it was sent. If there is nothing to commit, return True.
        Offsets that were not accepted are committed again later.
        """
        self._commit_due = time.monotonic() + COMMIT_SECONDS
        offsets = {
            each: (offset, self._note(each, offset))
            for each, offset in self._book.committable().items()
        }
        if not wait:
            offsets = {at: new for at, new in offsets.items() if self._sent.get(at) != new}
        if not offsets:
            return True
        asked_at = time.monotonic()
        try:
            self._send([TopicPartition(*at, *new) for at, new in offsets.items()], wait=wait)
        except KafkaException as exc:
            self._failed(error_of(exc))
            return False
        self._sent.update(offsets)
        if wait:
            self._lease.renew(asked_at)
        return True

    def forget(self, partition: Partition) -> None:
        """Delete the stored data about the commits of a revoked partition."""
        self._sent.pop(partition, None)

    def answered(self, error: KafkaError | None, partitions: Sequence[TopicPartition]) -> None:
        """Process the broker's answer to a commit that was sent without `wait`.

        error       error of the commit; None: it was accepted
        partitions  the committed offsets
        """
        failed = error or next((each.error for each in partitions if each.error), None)
        if failed is not None:
            self._failed(failed)

    def _send(self, offsets: list[TopicPartition], *, wait: bool) -> None:
        """Commit. Raises KafkaException; without `wait`, `answered` gets the broker's error."""
        if not wait:
            self._consumer.commit(offsets=offsets, asynchronous=True)
            return
        for each in self._consumer.commit(offsets=offsets, asynchronous=False):
            if each.error is not None:
                raise KafkaException(each.error)

    def _failed(self, error: KafkaError) -> None:
        self._sent.clear()  # the next commit has everything again
        self._metrics.happened("lost_ack")
        log_event(logging.WARNING, "commit_refused", group=self._group, reason=error)
        if is_late(error):
            self._lease.end()
            self._on_removed()

    def _show_lag(self) -> None:
        for (topic, number), offset in self._book.committable().items():
            try:
                at = TopicPartition(topic, number)
                _, end = self._consumer.get_watermark_offsets(at, cached=True)
            except KafkaException:
                continue
            if end >= 0:
                self._metrics.lag((topic, number), max(0, end - offset))
