"""Publishes XA transactions: rows are stored at PREPARE, published at COMMIT, and deleted after
COMMIT or ROLLBACK.
"""

from collections import Counter
from collections.abc import Generator
from contextlib import closing
from typing import Final

from relay.errors import BatchAborted, PreparedUnknown
from relay.model.change import PreparedRows, RowsEvent, XaAction, XaStep
from relay.model.table import TableId
from relay.pipeline.checkpoint.checkpoint import Checkpoint
from relay.pipeline.checkpoint.skip_policy import SkipReason
from relay.pipeline.publishing.row_publisher import RowPublisher
from relay.pipeline.publishing.xa_prepared import PreparedTransactions, opened

_REPLAY_REMEDY: Final = (
    "Run `roma position set` with a position before its XA PREPARE. Or run it with --as-new: "
    "the rows then get new order keys, and consumers apply them again."
)
_PART_REMEDY: Final = (
    "Run `roma position set` with a position after this transaction, then compare the copies of "
    "its tables with the source (`roma reconcile --repair`). Former versions of the relay removed "
    "the stored rows with the last part: then all of its rows are already published."
)


class XaPublisher:
    """Publishes the XA transactions of one source; used by one thread."""

    def __init__(
        self, prepared: PreparedTransactions, rows: RowPublisher, checkpoint: Checkpoint
    ) -> None:
        self._prepared = prepared
        self._rows = rows
        self._checkpoint = checkpoint
        self._progress = checkpoint.progress
        self._xid = ""
        self._finished = ""
        self._skipped: Counter[TableId] = Counter()

    def keep(self, item: PreparedRows) -> None:
        """Store a row event of the XA transaction that is being prepared, and count it as one
        change.

        Raises BatchAborted if no XA transaction is being prepared.
        """
        if not self._xid:
            raise BatchAborted(
                f"A prepared row event at {item.raw.position} is outside of its group."
            )
        is_kept = self._progress.to_skip > 0
        self._checkpoint.count_prepared(0 if is_kept else len(item.raw.body))
        if self._is_skipped:
            self._skipped[item.table.id] += self._rows.plans.count(opened(item))
        if is_kept:
            self._prepared.passed(self._xid)
            return
        for message in self._prepared.keep(self._xid, self._progress.items, item):
            self._checkpoint.add_own(message)

    def step(self, step: XaStep) -> None:
        """Process an XA statement: begin, prepare, publish or drop the rows of its transaction.

        Raises PreparedUnknown for the COMMIT of rows that this instance never read.
        """
        match step.action:
            case XaAction.BEGIN:
                self._xid = step.xid
                self._skipped.clear()
                self._prepared.begin(step.xid)
            case XaAction.PREPARE:
                self._xid = ""
                for table, rows in self._skipped.items():
                    self._rows.count_skipped(table, rows)
                message = self._prepared.prepared(step.xid, skipped=self._is_skipped)
                self._checkpoint.add_own(message)
            case XaAction.COMMIT_AT_ONCE:
                self._xid = ""
                if self._progress.items:
                    self._publish(step)
            case XaAction.COMMIT:
                self._publish(step)
            case XaAction.ROLLBACK:
                self._xid = ""
                self._find(step.xid)
                self._finished = step.xid

    def end(self) -> None:
        """Delete the stored rows of an XA transaction that was committed or rolled back. Call it at
        the end of the source transaction with the COMMIT or ROLLBACK.

        Until then the stored rows are needed. If that transaction is published in parts and read
        again, its rows are taken from the store again.
        """
        if self._finished:
            for message in self._prepared.forgotten(self._finished):
                self._checkpoint.add_deletion(message)
            self._finished = ""

    @property
    def _is_skipped(self) -> bool:
        return self._progress.skip_reason is SkipReason.SKIPPED

    def _publish(self, step: XaStep) -> None:
        self._find(step.xid)
        with closing(self._events(step)) as events:
            left_out = self._prepared.is_skipped(step)
            for event in events:
                if left_out:
                    self._rows.leave_out(event)
                else:
                    self._rows.publish([event])
                if self._rows.copies is not None:
                    self._rows.copies.xa_committed(event.table.id)
                self._checkpoint.poll()
        self._finished = step.xid

    def _find(self, xid: str) -> None:
        """Find the rows: in memory, or by their offsets in their topic.

        The open batch would hide what follows its own records there.
        """
        if not self._prepared.in_memory(xid):
            self._checkpoint.commit_part()
            self._prepared.find_committed()

    def _events(self, step: XaStep) -> Generator[RowsEvent, None, None]:
        try:
            return self._prepared.rows(step)
        except PreparedUnknown as exc:
            if self._progress.record.replay is not None:
                raise PreparedUnknown(
                    f"{exc.reason} When its rows were published the first time, they got order "
                    "keys. Without the rows, the order keys of the later rows are unknown.",
                    remedy=_REPLAY_REMEDY,
                ) from exc
            if self._progress.to_skip:
                raise PreparedUnknown(
                    f"{exc.reason} A part of its rows is already published, with order keys.",
                    remedy=_PART_REMEDY,
                ) from exc
            if self._progress.skip_reason is None:
                raise
            return _no_events()


def _no_events() -> Generator[RowsEvent, None, None]:
    """Yield nothing: the rows of a transaction that is left out may be unknown."""
    yield from ()
