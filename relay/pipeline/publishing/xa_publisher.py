"""XA transactions: rows are kept at PREPARE, published at COMMIT, and deleted at ROLLBACK."""

from collections.abc import Generator
from contextlib import closing
from typing import Final

from relay.errors import BatchAborted, PreparedUnknown
from relay.model.change import PreparedRows, RowsEvent, XaAction, XaStep
from relay.pipeline.checkpoint.checkpoint import Checkpoint
from relay.pipeline.publishing.row_publisher import RowPublisher
from relay.pipeline.publishing.xa_prepared import PreparedTransactions

_REPLAY_REMEDY: Final = (
    "Move the position to a place before its XA PREPARE, or add --as-new: the rows then get new "
    "order keys, and consumers apply them again."
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

    def keep(self, item: PreparedRows) -> None:
        """Keep a row event of the group that is open; each counts as one change of the group."""
        if not self._xid:
            raise BatchAborted(
                f"A prepared row event at {item.raw.position} is outside of its group."
            )
        is_kept = self._progress.to_skip > 0
        self._checkpoint.count_prepared(0 if is_kept else len(item.raw.body))
        if is_kept:
            self._prepared.passed(self._xid)
            return
        for message in self._prepared.keep(self._xid, self._progress.items, item):
            self._checkpoint.add_own(message)

    def step(self, step: XaStep) -> None:
        """Do what a step asks for.

        Raises PreparedUnknown for the COMMIT of rows that were never read.
        """
        match step.action:
            case XaAction.BEGIN:
                self._xid = step.xid
                self._prepared.begin(step.xid)
            case XaAction.PREPARE:
                self._xid = ""
                self._checkpoint.add_own(self._prepared.prepared(step.xid))
            case XaAction.COMMIT_AT_ONCE:
                self._xid = ""
                if self._progress.items:
                    self._publish(step)
            case XaAction.COMMIT:
                self._publish(step)
            case XaAction.ROLLBACK:
                self._xid = ""
                self._find(step.xid)
                self._forget(step.xid)

    def _publish(self, step: XaStep) -> None:
        self._find(step.xid)
        with closing(self._events(step)) as events:
            for event in events:
                self._rows.publish([event])
                if self._rows.copies is not None:
                    self._rows.copies.xa_committed(event.table.id)
                self._checkpoint.poll()
        self._forget(step.xid)

    def _find(self, xid: str) -> None:
        """Find the rows: in memory, or by their offsets in their topic.

        The open batch would hide what follows its own records there.
        """
        if not self._prepared.in_memory(xid):
            self._checkpoint.commit_part()
            self._prepared.look_up()

    def _events(self, step: XaStep) -> Generator[RowsEvent, None, None]:
        try:
            return self._prepared.rows(step)
        except PreparedUnknown as exc:
            if self._progress.record.replay is not None:
                raise PreparedUnknown(
                    f"{exc.reason} Its rows took order keys before, so those after it are unknown.",
                    remedy=_REPLAY_REMEDY,
                ) from exc
            if self._progress.skip_reason is None:
                raise
            return _no_events()

    def _forget(self, xid: str) -> None:
        for message in self._prepared.forgotten(xid):
            self._checkpoint.add_deletion(message)


def _no_events() -> Generator[RowsEvent, None, None]:
    """Yield nothing: the rows of a transaction that is left out may be unknown."""
    yield from ()
