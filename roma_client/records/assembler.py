"""Assembles whole source transactions from rows and reports, read in any order of partitions."""

from collections import deque
from collections.abc import Set as AbstractSet
from heapq import heappop, heappush
from typing import Final, Literal, NamedTuple, TypeAlias

from roma_client.errors import TransactionIncomplete, TransactionTooLarge
from roma_client.records.ack_book import Receipt
from roma_client.records.order_guard import Partition
from roma_client.records.pending import (
    NONE_DONE,
    Moment,
    PendingTransaction,
    ReadyTransaction,
    Rows,
    loose_rows,
)
from roma_client.records.transaction import Report, TransactionId

Partial: TypeAlias = Literal["stop", "yield"]

_NEVER: Final = Moment(-1, -1)
_SHOWN_TABLES: Final = 5
_SECOND: Final = 1000
_REPORT_BYTES: Final = 1000
"""What a BEGIN or END counts as, so that reports that are ahead of their rows are bounded too."""


class Stalled(NamedTuple):
    """A transaction whose missing parts may never arrive.

    end         offset of its END; None: it was not read
    has_report  whether its BEGIN or END was read
    """

    id: TransactionId
    end: int | None
    has_report: bool = True


class Assembler:
    """Assembles one instance's transactions, in the order of their commits. Not thread-safe.

    Transactions are compared by their moments, not by execute positions alone: these begin at a
    lower number after `roma position set --as-new` if the position record is lost.
    """

    def __init__(
        self,
        instance: str,
        tables: AbstractSet[str],
        reports: Partition,
        *,
        partial: Partial = "stop",
        transaction_bytes: int = 100_000_000,
    ) -> None:
        """`reports` is the partition of BEGIN and END.

        `partial` says what becomes of a transaction that never arrives whole; `transaction_bytes`
        is how large one may be.
        """
        self._instance = instance
        self._tables = tables
        self._reports = reports
        self._partial = partial
        self._most = transaction_bytes
        self.begin(frozenset())

    def begin(self, cut: AbstractSet[Partition], done: Moment = NONE_DONE) -> None:
        """Drop all records. Partitions are then read from their committed offsets on.

        cut   partitions that the group never read before, and whose older rows therefore never
              arrive
        done  moment of the last acknowledged transaction; copies of it and of older ones are
              dropped
        """
        self._cut = cut
        self._pending: dict[str, PendingTransaction] = {}
        self._queue: deque[PendingTransaction] = deque()
        self._oldest: list[tuple[Moment, str]] = []
        self._lanes: dict[Partition, deque[ReadyTransaction | str]] = {}
        self._first: dict[Partition, Moment] = {}
        self._last: dict[Partition, Moment] = {}
        self._done = done
        self.size = 0
        self.ready: deque[ReadyTransaction] = deque()

    def rows(self, rows: Rows) -> bool:
        """Add a record's rows; return whether its offset must not be committed before the
        transaction is acknowledged.

        Raises TransactionIncomplete, TransactionTooLarge.
        """
        if rows.id is None:
            return bool(rows.changes) and self._loose(rows)
        if rows.id.instance != self._instance:
            return False
        moment = Moment(rows.time, rows.id.before)
        self._note(rows.partition, moment)
        if moment.is_done(self._done) or not rows.changes:
            return False
        pending = self._pending.get(rows.id.text)
        if pending is None:
            if moment < self._last.get(self._reports, _NEVER):
                return self._unreported(rows, moment)
            pending = self._pend(rows.id, moment)
        self._add(pending, rows)
        self._advance()
        return pending.receipts[-1] is rows.receipt

    def report(self, report: Report, receipt: Receipt) -> bool:
        """Add a BEGIN or END message; return whether its offset must not be committed before the
        transaction is acknowledged.

        Raises TransactionIncomplete.
        """
        if report.id.instance != self._instance:
            return False
        moment = Moment(round(report.execute_time.timestamp() * _SECOND), report.id.before)
        self._note(self._reports, moment)
        pending = self._pending.get(report.id.text)
        if moment.is_done(self._done) or (
            pending is not None and (pending.end if report.is_end else pending.is_queued)
        ):
            return False
        if pending is None:
            pending = self._pend(report.id, moment)
        if not pending.is_queued:
            self._leave_open(moment)
            self._give_up(moment)
            self._enqueue(pending)
        pending.receipts.append(receipt)
        pending.size += _REPORT_BYTES
        self.size += _REPORT_BYTES
        if report.is_end:
            pending.end, pending.end_offset = report, receipt.offset
        else:
            pending.begin = report
        self._advance()
        return True

    @property
    def stalled(self) -> Stalled | None:
        """Return the next transaction if its missing parts may never arrive; otherwise None."""
        if not self._queue:
            # Rows and their BEGIN are in one Kafka transaction: it may be in another topic.
            oldest = self._oldest_unreported()
            may_skip = self._reports in self._cut and self._reports not in self._first
            return None if oldest is None or may_skip else Stalled(oldest.id, None, False)
        front = self._queue[0]
        return Stalled(front.id, front.end_offset) if front.end or front.is_given_up else None

    def nothing_comes(self) -> None:
        """Skip the stalled transaction or deliver it incomplete, or raise TransactionIncomplete."""
        if not self._queue and (oldest := self._oldest_unreported()) is not None:
            oldest.is_given_up = True
            self._enqueue(oldest)
        front = self._queue.popleft()
        if not front.is_given_up and self._began_before(front.moment):
            self._finish(front, front.skipped())
        elif self._partial == "stop":
            self._queue.appendleft(front)
            raise self._incomplete(front)
        else:
            self._finish(front, front.ready(is_whole=False))
        self._advance()

    def ahead(self) -> set[Partition]:
        """Return the partitions whose records of the next transaction have all been read."""
        waiting = self._queue or filter(None, [self._oldest_unreported()])
        front = min((each.moment for each in waiting), default=None)
        return {each for each, last in self._last.items() if front is not None and last > front}

    def _oldest_unreported(self) -> PendingTransaction | None:
        """Return the oldest transaction with rows and without a report."""
        while self._oldest:
            each = self._pending.get(self._oldest[0][1])
            if each is not None and not each.is_queued:
                return each
            heappop(self._oldest)
        return None

    def _pend(self, id_: TransactionId, moment: Moment) -> PendingTransaction:
        heappush(self._oldest, (moment, id_.text))
        return self._pending.setdefault(id_.text, PendingTransaction(id_, moment))

    def _enqueue(self, pending: PendingTransaction) -> None:
        pending.is_queued = True
        self._queue.append(pending)

    def _note(self, partition: Partition, moment: Moment) -> None:
        self._first.setdefault(partition, moment)
        self._last[partition] = moment

    def _loose(self, rows: Rows) -> bool:
        """Deliver rows of no transaction after what their partition had before."""
        instance = (rows.changes[0].instance or self._instance).split("/")[0]
        if instance != self._instance:
            return False
        ready = loose_rows(rows, instance)
        self._lanes.setdefault(rows.partition, deque()).append(ready)
        self._release(rows.partition)
        return True

    def _unreported(self, rows: Rows, moment: Moment) -> bool:
        """Decide about rows whose END should have come before what was read of the reports."""
        assert rows.id is not None  # noqa: S101  # only such rows come here
        if self._reported_before(moment):
            return False
        orphan = PendingTransaction(rows.id, moment, is_given_up=True)
        if self._partial == "stop":
            raise self._incomplete(orphan)
        orphan.add(rows)
        self.ready.append(orphan.ready(is_whole=False))
        return True

    def _add(self, pending: PendingTransaction, rows: Rows) -> None:
        if rows.partition not in pending.rows:
            self._lanes.setdefault(rows.partition, deque()).append(pending.id.text)
        pending.add(rows)
        self.size += rows.size
        if pending.size > self._most:
            raise TransactionTooLarge(
                f"Transaction {pending.id.text} has more than {self._most} bytes of rows."
            )

    def _leave_open(self, next_: Moment) -> None:
        """Decide about a transaction that began and did not end, before another one begins.

        If the next one is older, the relay published again from an older position: the open one
        comes again too.
        """
        open_ = self._queue[-1] if self._queue else None
        if open_ is None or open_.end is not None or open_.is_given_up:
            return
        if next_ < open_.moment:
            self._queue.pop()
            open_.is_queued = False
            heappush(self._oldest, (open_.moment, open_.id.text))
        else:
            open_.is_given_up = True

    def _give_up(self, next_: Moment) -> None:
        """Decide about older transactions with rows and without a report."""
        while (each := self._oldest_unreported()) is not None and each.moment < next_:
            if self._reported_before(each.moment):
                self._finish(each, each.skipped())
            else:
                each.is_given_up = True
                self._enqueue(each)

    def _reported_before(self, moment: Moment) -> bool:
        """Return whether the messages of a transaction are before the start of their topic."""
        return self._reports in self._cut and moment < self._first[self._reports]

    def _began_before(self, moment: Moment) -> bool:
        """Return whether a transaction may have rows before the start of a partition."""
        cut = self._cut - {self._reports}
        return any(self._first.get(each, moment) >= moment for each in cut)

    def _advance(self) -> None:
        while self._queue:
            front = self._queue[0]
            if front.end is None or front.lacks(self._tables):
                return
            self._queue.popleft()
            is_new = not front.moment.is_done(self._done)
            self._finish(front, front.ready() if is_new else front.skipped())

    def _finish(self, pending: PendingTransaction, ready: ReadyTransaction) -> None:
        del self._pending[pending.id.text]
        self.size -= pending.size
        if pending.begin or pending.end:
            self._done = max(self._done, pending.moment)
        self.ready.append(ready)
        for partition in pending.rows:
            self._release(partition)

    def _release(self, partition: Partition) -> None:
        """Deliver the rows of no transaction that are next in a partition."""
        lane = self._lanes[partition]
        while lane:
            if isinstance(lane[0], ReadyTransaction):
                self.ready.append(lane[0])
            elif lane[0] in self._pending:
                return
            lane.popleft()

    def _incomplete(self, pending: PendingTransaction) -> TransactionIncomplete:
        what = f"Transaction {pending.id.text}"
        if pending.is_given_up:
            began = (
                "has a BEGIN and no END" if pending.begin else "has rows, and no BEGIN and no END"
            )
            return TransactionIncomplete(f"{what} {began} in {self._reports[0]}.")
        missing = sorted(pending.lacks(self._tables).items())[:_SHOWN_TABLES]
        told = ", ".join(f"{number} of {table}" for table, number in missing)
        return TransactionIncomplete(f"{what} lacks rows that its END counts: {told}.")
