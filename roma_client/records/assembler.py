"""Whole source transactions from rows and reports that arrive in any order of their partitions."""

from collections import deque
from collections.abc import Set as AbstractSet
from heapq import heappop, heappush
from typing import Final, Literal, NamedTuple, TypeAlias

from roma_client.errors import TransactionIncomplete, TransactionTooLarge
from roma_client.records.ack_book import Receipt
from roma_client.records.order_guard import Partition
from roma_client.records.pending import PendingTransaction, ReadyTransaction, Rows, loose_rows
from roma_client.records.transaction import Report, TransactionId

Partial: TypeAlias = Literal["stop", "yield"]

NONE_DONE: Final = -1
_SHOWN_TABLES: Final = 5
_REPORT_BYTES: Final = 1000
"""What a BEGIN or END counts as, so that reports that are ahead of their rows are bounded too."""


class Stalled(NamedTuple):
    """A transaction that only lacks rows. `end` is the offset of its END, None without one."""

    id: TransactionId
    end: int | None


class Assembler:
    """Makes transactions of one instance whole, in the order of their commits.

    Partitions keep the order of their instance, and the topic of transactions has one partition.
    Reads no clock and no Kafka. Not thread-safe.
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

    def begin(self, cut: AbstractSet[Partition], done: int = NONE_DONE) -> None:
        """Begin with partitions from their committed offsets; forget everything before.

        `done` is `before` of the last transaction that is acknowledged: what the relay published
        again of it, or of an older one, is dropped.
        `cut` are those that the group never read before and that do not begin with their first
        record: rows of a transaction before the start there never come.
        """
        self._cut = cut
        self._pending: dict[str, PendingTransaction] = {}
        self._queue: deque[PendingTransaction] = deque()
        self._oldest: list[tuple[int, str]] = []
        self._lanes: dict[Partition, deque[ReadyTransaction | str]] = {}
        self._first: dict[Partition, int] = {}
        self._last: dict[Partition, int] = {}
        self._done = done
        self.size = 0
        self.ready: deque[ReadyTransaction] = deque()

    def rows(self, rows: Rows) -> bool:
        """Take the rows of a record; return whether its offset is kept until it is acknowledged.

        Raises TransactionIncomplete, TransactionTooLarge.
        """
        if rows.id is None:
            return bool(rows.changes) and self._loose(rows)
        if rows.id.instance != self._instance:
            return False
        self._note(rows.partition, rows.id)
        if rows.id.before <= self._done or not rows.changes:
            return False
        pending = self._pending.get(rows.id.text)
        if pending is None:
            if rows.id.before < self._last.get(self._reports, -1):
                return self._unreported(rows)
            pending = self._pend(rows.id)
        self._add(pending, rows)
        self._advance()
        return pending.receipts[-1] is rows.receipt

    def report(self, report: Report, receipt: Receipt) -> bool:
        """Take a BEGIN or END; return whether its offset is kept until it is acknowledged.

        Raises TransactionIncomplete.
        """
        if report.id.instance != self._instance:
            return False
        self._note(self._reports, report.id)
        pending = self._pending.get(report.id.text)
        if report.id.before <= self._done or (
            pending is not None and (pending.end if report.is_end else pending.is_queued)
        ):
            return False
        if pending is None:
            pending = self._pend(report.id)
        if not pending.is_queued:
            self._leave_open(report.id)
            self._give_up(pending)
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
        """Return the next transaction if only rows are missing, which may never come."""
        front = self._queue[0] if self._queue else None
        if front is None or not (front.end or front.is_given_up):
            return None
        return Stalled(front.id, front.end_offset)

    def nothing_comes(self) -> None:
        """Decide about the stalled transaction: all rows that were published are read.

        Raises TransactionIncomplete.
        """
        front = self._queue.popleft()
        if not front.is_given_up and self._began_before(front.id):
            self._finish(front, front.skipped())
        elif self._partial == "stop":
            self._queue.appendleft(front)
            raise self._incomplete(front)
        else:
            self._finish(front, front.ready(is_whole=False))
        self._advance()

    def ahead(self) -> set[Partition]:
        """Return the partitions that have given all they have of the next transaction."""
        ids = [each.id.before for each in self._queue] or [
            each.id.before for each in self._pending.values()
        ]
        front = min(ids, default=None)
        return {each for each, last in self._last.items() if front is not None and last > front}

    def _pend(self, id_: TransactionId) -> PendingTransaction:
        heappush(self._oldest, (id_.before, id_.text))
        return self._pending.setdefault(id_.text, PendingTransaction(id_))

    def _enqueue(self, pending: PendingTransaction) -> None:
        pending.is_queued = True
        self._queue.append(pending)

    def _note(self, partition: Partition, id_: TransactionId) -> None:
        self._first.setdefault(partition, id_.before)
        self._last[partition] = id_.before

    def _loose(self, rows: Rows) -> bool:
        """Deliver rows of no transaction after what their partition had before."""
        instance = (rows.changes[0].instance or self._instance).split("/")[0]
        if instance != self._instance:
            return False
        ready = loose_rows(rows, instance)
        self._lanes.setdefault(rows.partition, deque()).append(ready)
        self._release(rows.partition)
        return True

    def _unreported(self, rows: Rows) -> bool:
        """Decide about rows whose END should have come before what was read of the reports."""
        assert rows.id is not None  # noqa: S101  # only such rows come here
        if self._reported_before(rows.id):
            return False
        orphan = PendingTransaction(rows.id, is_given_up=True)
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

    def _leave_open(self, next_: TransactionId) -> None:
        """Decide about a transaction that began and did not end, before another one begins.

        If the next one is older, the relay published again from an older position: the open one
        comes again too.
        """
        open_ = self._queue[-1] if self._queue else None
        if open_ is None or open_.end is not None or open_.is_given_up:
            return
        if next_.before < open_.id.before:
            self._queue.pop()
            open_.is_queued = False
            heappush(self._oldest, (open_.id.before, open_.id.text))
        else:
            open_.is_given_up = True

    def _give_up(self, next_: PendingTransaction) -> None:
        """Decide about older transactions with rows and without a report."""
        while self._oldest and self._oldest[0][0] < next_.id.before:
            each = self._pending.get(heappop(self._oldest)[1])
            if each is None or each.is_queued:
                continue
            if self._reported_before(each.id):
                self._finish(each, each.skipped())
            else:
                each.is_given_up = True
                self._enqueue(each)

    def _reported_before(self, id_: TransactionId) -> bool:
        """Return whether the messages of a transaction are before the start of their topic."""
        return self._reports in self._cut and id_.before < self._first[self._reports]

    def _began_before(self, id_: TransactionId) -> bool:
        """Return whether a transaction may have rows before the start of a partition."""
        cut = self._cut - {self._reports}
        return any(self._first.get(each, id_.before) >= id_.before for each in cut)

    def _advance(self) -> None:
        while self._queue:
            front = self._queue[0]
            if front.end is None or front.lacks(self._tables):
                return
            self._queue.popleft()
            is_new = front.id.before > self._done
            self._finish(front, front.ready() if is_new else front.skipped())

    def _finish(self, pending: PendingTransaction, ready: ReadyTransaction) -> None:
        del self._pending[pending.id.text]
        self.size -= pending.size
        if pending.begin or pending.end:
            self._done = max(self._done, pending.id.before)
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
            began = "began and never ends" if pending.begin else "has rows, and no BEGIN and no END"
            return TransactionIncomplete(f"{what} {began} in {self._reports[0]}.")
        missing = sorted(pending.lacks(self._tables).items())[:_SHOWN_TABLES]
        told = ", ".join(f"{number} of {table}" for table, number in missing)
        return TransactionIncomplete(f"{what} lacks rows that its END counts: {told}.")
