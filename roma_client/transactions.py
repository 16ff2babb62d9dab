"""An open subscription to whole transactions. It returns one transaction after the other; each is
acknowledged as a whole.
"""

import logging
import time
from collections.abc import Iterator
from threading import Event
from typing import Final

from roma_client.errors import ClientError
from roma_client.kafka.membership import Standing
from roma_client.kafka.transaction_feed import Ends, TransactionFeed
from roma_client.log import log_event
from roma_client.metrics import Metrics
from roma_client.names.watcher import NameWatcher
from roma_client.records.assembler import Assembler, Stalled
from roma_client.records.pending import ReadyTransaction
from roma_client.records.transaction import Transaction, TransactionId

_FETCH_RECORDS: Final = 500
_WAIT_SECONDS: Final = 0.5
_STALLED_SECONDS: Final = 3.0
"""A transaction that lacks rows for so long makes the client ask Kafka how many there are."""
_UNREPORTED_SECONDS: Final = 60.0
"""The same for rows without BEGIN: a relay that sends at least once may have ended before it."""


class Transactions(Iterator[Transaction]):
    """Iterates over transactions. Asking for the next one acknowledges the one before.

    If processing a transaction raises an error, or the loop is left by `break`, the transaction is
    not acknowledged: it is delivered again. It must be used by one thread; only `stop()` may be
    called from other threads and from signal handlers.
    """

    def __init__(
        self,
        feed: TransactionFeed,
        assembler: Assembler,
        watcher: NameWatcher,
        metrics: Metrics,
        *,
        buffer_bytes: int,
        idle_seconds: float | None = None,
    ) -> None:
        self._feed = feed
        self._assembler = assembler
        self._watcher = watcher
        self._metrics = metrics
        self._buffer_bytes = buffer_bytes
        self._idle_seconds = idle_seconds
        self._open: ReadyTransaction | None = None
        self._stalled_since: tuple[TransactionId, float] | None = None
        self._ends: Ends | None = None
        self._proven_for: TransactionId | None = None
        self._stop = Event()
        self._last = time.monotonic()

    def __iter__(self) -> "Transactions":
        return self

    def __next__(self) -> Transaction:
        found = self.take()
        if found is None:
            raise StopIteration
        return found

    def take(self) -> Transaction | None:
        """Return the next transaction with a row of a subscribed table; None when the iteration
        ends.

        Raises TransactionIncomplete, TransactionTooLarge, TableMoved, and the errors of
        `Feed.fetch`.
        """
        self.ack()
        while not self._stop.is_set():
            ready = self._poll()
            if ready is not None and ready.transaction is not None:
                self._open, self._last = ready, time.monotonic()
                self._count(ready.transaction)
                return ready.transaction
            if ready is None and self._is_over():
                break
        return None

    def ack(self) -> bool:
        """Acknowledge the transaction that was returned last.

        Returns False if the group gave the partitions to another client, so that it is delivered
        again.
        """
        if self._open is None:
            return True
        ready, self._open = self._open, None
        return self._feed.acknowledge(ready)

    def leave_open(self) -> None:
        """Record that the transaction that was returned last must not be acknowledged, because the
        service did not receive it.
        """
        self._open = None

    def commit(self) -> None:
        """Commit the acknowledged offsets to Kafka now, instead of within the next second."""
        self._feed.commit(wait=True)

    def stop(self) -> None:
        """End the iteration after the present transaction. Safe in other threads and in signal
        handlers.
        """
        self._stop.set()

    @property
    def is_active(self) -> bool:
        """Return whether the group has given the partitions to this client."""
        return self._feed.is_active

    def _poll(self) -> ReadyTransaction | None:
        """Return the next transaction; None if there is none yet. Acknowledges what is skipped."""
        self._watcher.check()
        queue = self._assembler.ready
        if not queue:
            self._hold_back()
            self._fetch()
            self._judge_stall()
        if not queue:
            return None
        standing = self._feed.standing(queue[0].receipts[0])
        if standing is Standing.UNPROVEN:
            self._stop.wait(_WAIT_SECONDS)
            return None
        if not queue:  # the group gave the partitions away meanwhile
            return None
        ready = queue.popleft()
        if standing is Standing.VOID:
            return None
        self._feed.commit_when_due()
        if ready.transaction is not None and ready.transaction.changes:
            return ready
        self._feed.acknowledge(ready)
        if ready.transaction is None:
            self._metrics.happened("skipped")
        return ReadyTransaction(None, ())

    def _fetch(self) -> None:
        """Read records; an error waits until what is whole before it was delivered."""
        try:
            self._feed.fetch(_FETCH_RECORDS, _WAIT_SECONDS)
        except ClientError:
            if not self._assembler.ready:
                raise

    def _hold_back(self) -> None:
        """Read no further ahead than the memory permits."""
        is_full = self._assembler.size > self._buffer_bytes
        self._feed.hold_back(self._assembler.ahead() if is_full else set())

    def _judge_stall(self) -> None:
        """Decide about a transaction whose rows do not come, once everything was read."""
        stalled = self._assembler.stalled
        if stalled is None or self._assembler.ready:
            self._stalled_since = None
            return
        now = time.monotonic()
        if self._stalled_since is None or self._stalled_since[0] != stalled.id:
            self._stalled_since = stalled.id, now
        if not self._covers(self._ends, stalled):
            wait = _STALLED_SECONDS if stalled.has_report else _UNREPORTED_SECONDS
            if now < self._stalled_since[1] + wait:
                return
            self._ends = self._feed.ends()
            self._proven_for = stalled.id
        ahead = self._assembler.ahead()
        if self._ends is not None and self._feed.has_read(self._ends, ahead):
            log_event(logging.WARNING, "transaction_incomplete", id=stalled.id.text)
            self._assembler.nothing_comes()

    def _covers(self, ends: Ends | None, stalled: Stalled) -> bool:
        """Return whether these ends were asked for after the rows of a transaction were there."""
        if ends is None or ends.session != self._feed.session:
            return False
        if stalled.end is None:
            return self._proven_for == stalled.id
        return stalled.end < ends.reports

    def _is_over(self) -> bool:
        stalled = self._assembler.stalled
        if not self._feed.has_joined or (stalled is not None and stalled.has_report):
            self._last = time.monotonic()
        if self._idle_seconds is None or time.monotonic() < self._last + self._idle_seconds:
            return False
        if self._feed.has_read_all():
            return True
        self._last = time.monotonic()
        return False

    def _count(self, transaction: Transaction) -> None:
        delay = time.time() - transaction.execute_time.timestamp()
        for change in transaction.changes:
            self._metrics.delivered(change, delay)
