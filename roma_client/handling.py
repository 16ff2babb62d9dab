"""Processes changes with a function: retries with increasing pauses, dead letters, several
workers.
"""

import logging
import random
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, Queue
from threading import Thread
from typing import Final, TypeAlias

from roma_client.changes import Changes
from roma_client.kafka.feed import Feed
from roma_client.kafka.membership import Standing
from roma_client.log import log_event
from roma_client.metrics import Metrics
from roma_client.records.change import Change
from roma_client.records.delivery import Delivery
from roma_client.records.record import Record

Handler: TypeAlias = Callable[[Change], object]
StoreLetter: TypeAlias = Callable[[Record, str], None]

_QUEUED_CHANGES: Final = 100
"""Changes that wait at most for each worker."""
_TURN_SECONDS: Final = 0.05
_DRAIN_SECONDS: Final = 30.0
"""Seconds for workers to finish when partitions are revoked, or at the end."""


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a handler that raises an error is called again, and after which pauses.

    attempts       number of calls in total, at least 1
    first_seconds  pause after the first failure; it doubles with each further failure
    most_seconds   longest pause
    """

    attempts: int = 5
    first_seconds: float = 0.1
    most_seconds: float = 30

    def pause(self, failures: int) -> float:
        """Return the pause in seconds after this many failures, at random up to 20 % shorter."""
        pause: float = min(self.most_seconds, self.first_seconds * 2 ** (failures - 1))
        jitter: float = random.uniform(0.8, 1)  # noqa: S311  # spreads clients, no secret
        return pause * jitter


@dataclass(frozen=True, slots=True)
class Handling:
    """A handler, which the service provides, with the rules for its errors.

    letters  stores a record whose processing failed finally; None: the error ends the client
    """

    handler: Handler
    retry: Retry
    letters: StoreLetter | None
    metrics: Metrics
    wait: Callable[[float], bool]

    def process(self, delivery: Delivery) -> bool:
        """Process a change. Return whether it is finished: the handler has processed it, or it was
        stored as a dead letter.

        Returns False if `stop()` was called between two attempts. Raises the handler's last error
        if there is no dead letter topic, and DeadLetterFailed.
        """
        failures = 0
        while True:
            try:
                self.handler(delivery.change)
            except Exception as exc:  # noqa: BLE001  # the service's own; raised or stored
                failures += 1
                if failures >= self.retry.attempts:
                    self._give_up(delivery, exc)
                    return True
                self._told("handler_failed", delivery, exc)
                self.metrics.happened("retry")
                if self.wait(self.retry.pause(failures)):
                    return False
            else:
                return True

    def _give_up(self, delivery: Delivery, exc: Exception) -> None:
        """Store a dead letter. Called while `exc` is handled."""
        if self.letters is None:
            raise exc
        self.letters(delivery.record, f"{type(exc).__name__}: {exc}")
        self.metrics.happened("dead_letter")
        self._told("dead_letter_stored", delivery, exc)

    def _told(self, event: str, delivery: Delivery, exc: Exception) -> None:
        place = delivery.change.place
        log_event(
            logging.WARNING,
            event,
            topic=place.topic,
            partition=place.partition,
            offset=place.offset,
            reason=f"{type(exc).__name__}: {exc}",
        )


def run_here(changes: Changes, handling: Handling) -> None:
    """Process the changes in the calling thread until `stop()` is called or the changes end."""
    while (delivery := changes.take()) is not None:
        if not handling.process(delivery):
            return
    changes.ack()


class WorkerPool:
    """Threads that process changes. Changes of one key are processed in order, by one thread.

    Changes without a key are processed in the order of their partition. The calling thread reads,
    acknowledges, and calls Kafka's client. After an error no worker begins a further change.
    """

    def __init__(self, changes: Changes, feed: Feed, handling: Handling, workers: int) -> None:
        self._changes = changes
        self._feed = feed
        self._handling = handling
        self._queues = [Queue[Delivery | None](_QUEUED_CHANGES) for _ in range(workers)]
        self._done: Queue[_Outcome] = Queue()
        self._under_way = 0
        self._failure: BaseException | None = None
        self._threads = [
            Thread(target=self._work, args=(each,), name=f"roma-client-worker-{number}")
            for number, each in enumerate(self._queues)
        ]

    def run(self) -> None:
        """Process changes until `stop()` is called or the changes end. Raises the first error of a
        worker.
        """
        self._feed.before_revoke = self._drain
        for each in self._threads:
            each.start()
        try:
            self._dispatch()
            self._drain()
        finally:
            self._changes.stop()
            for queue in self._queues:
                queue.put(None)
            for each in self._threads:
                each.join()
            self._acknowledge_finished()
            self._feed.before_revoke = lambda: None
        self._raise_failure()

    def _dispatch(self) -> None:
        while not self._changes.stopped:
            delivery = self._changes.poll(_TURN_SECONDS)
            self._acknowledge_finished()
            self._raise_failure()
            if self._under_way:
                self._feed.keep_membership()  # what waits in the queues needs a proof too
            if delivery is None:
                if self._changes.is_over(busy=self._under_way > 0):
                    return
                continue
            self._hand_over(delivery)

    def _hand_over(self, delivery: Delivery) -> None:
        queue = self._queues[self._worker_of(delivery)]
        while not self._changes.stopped and not self._is_passed_on(queue, delivery):
            if self._under_way:
                self._acknowledge_finished(_TURN_SECONDS)
                self._raise_failure()
            else:
                self._changes.wait(_TURN_SECONDS)
            self._feed.keep_membership()

    def _is_passed_on(self, queue: "Queue[Delivery | None]", delivery: Delivery) -> bool:
        """Return whether the change is in the queue now, or another client gets it."""
        if queue.full():
            return False
        standing = self._feed.standing(delivery.receipt)
        if standing is Standing.CURRENT:
            self._under_way += 1
            queue.put(delivery)
        return standing is not Standing.UNPROVEN

    def _worker_of(self, delivery: Delivery) -> int:
        place = delivery.change.place
        key = delivery.change.key or f"{place.topic}/{place.partition}"
        return zlib.crc32(key.encode()) % len(self._queues)

    def _acknowledge_finished(self, wait_seconds: float = 0) -> None:
        """Acknowledge the changes that workers have finished, and keep the first error of a failed
        one. It raises nothing, because it also runs inside Kafka's callback.
        """
        while self._under_way:
            try:
                outcome = self._done.get(wait_seconds > 0, wait_seconds or None)
            except Empty:
                return
            wait_seconds = 0
            self._under_way -= 1
            self._failure = self._failure or outcome.error
            if outcome.is_done:
                self._feed.ack(outcome.delivery.receipt)

    def _raise_failure(self) -> None:
        """Raise the first error of a worker."""
        if self._failure is not None:
            raise self._failure

    def _drain(self) -> None:
        """Wait until the workers have finished their changes, at most `_DRAIN_SECONDS`."""
        end = time.monotonic() + _DRAIN_SECONDS
        while time.monotonic() < end:
            if not self._under_way:
                return
            self._acknowledge_finished(_TURN_SECONDS)
            self._feed.prove()
        log_event(logging.WARNING, "workers_not_drained", under_way=self._under_way)

    def _work(self, queue: "Queue[Delivery | None]") -> None:
        while (delivery := queue.get()) is not None:
            self._done.put(self._outcome(delivery))

    def _outcome(self, delivery: Delivery) -> "_Outcome":
        if not self._may_begin(delivery):  # it is delivered again
            return _Outcome(delivery, is_done=False)
        try:
            return _Outcome(delivery, self._handling.process(delivery))
        except BaseException as exc:  # noqa: BLE001  # raised in the thread that reads
            self._changes.stop()  # before this worker takes the next change of the key
            return _Outcome(delivery, is_done=False, error=exc)

    def _may_begin(self, delivery: Delivery) -> bool:
        """Return whether a worker may process the change. Waits for a proof of membership."""
        while not self._changes.stopped:
            standing = self._feed.known_standing(delivery.receipt)
            if standing is not Standing.UNPROVEN:
                return standing is Standing.CURRENT
            self._changes.wait(_TURN_SECONDS)
        return False


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The result of a change in a worker. An unfinished change stays unacknowledged."""

    delivery: Delivery
    is_done: bool
    error: BaseException | None = None
