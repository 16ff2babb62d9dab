"""Carries out the requests of one instance to copy tables, one at a time, between source
transactions.
"""

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import Final

import structlog

from relay.errors import (
    AskedToStop,
    BatchAborted,
    Fenced,
    HandedOver,
    LeadershipLost,
    RelayError,
    ResourcesExhausted,
    SnapshotRefused,
    StoreUnreachable,
    Unreachable,
)
from relay.model.change import RowsEvent
from relay.model.records.snapshot_progress import SnapshotProgress
from relay.model.table import TableId
from relay.pipeline.checkpoint.checkpoint import Checkpoint
from relay.pipeline.copying import own_requests
from relay.pipeline.copying.chunk_publisher import ChunkPublisher, PrintedChunk
from relay.pipeline.copying.copy_reader import CopyReader
from relay.pipeline.copying.copy_run import CopyRun
from relay.pipeline.copying.copy_waits import CopyWait, decide_by_lag, retry_after_s
from relay.pipeline.copying.noted_changes import moves_unseen, note_changes
from relay.pipeline.copying.window import Window
from relay.pipeline.copying.xa_commits import XaCommits
from relay.pipeline.delivery.copy_view import CopyView
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.pipeline.messages.table_plan import TablePlan
from relay.route import Dropped, Router, TableFilter
from relay.settings import InstanceSettings, SourceSettings, copies_refusal
from relay.state import SnapshotRequest, SnapshotState, SnapshotStore
from relay.threads import log_unexpected

_POLL_SECONDS: Final = 2.0
"""Failed writes to ZooKeeper are retried after this many seconds."""
_ENDS_SESSION: Final = (
    AskedToStop,
    BatchAborted,
    Fenced,
    HandedOver,
    LeadershipLost,
    ResourcesExhausted,
)
"""Errors that do not belong to the request: it is not marked as failed by them."""

_log = structlog.stdlib.get_logger(__name__)


class TableCopies:
    """Carries out the copy requests of an instance, one after another; used by the publishing
    thread.
    """

    def __init__(
        self,
        instance: InstanceSettings,
        source: SourceSettings,
        store: SnapshotStore,
        checkpoint: Checkpoint,
        publisher: ChunkPublisher,
        stats: InstanceStats,
    ) -> None:
        self._instance = instance
        self._source = source
        self._store = store
        self._checkpoint = checkpoint
        self._progress = checkpoint.progress
        self._publisher = publisher
        self._stats = stats
        self._accepted = TableFilter(instance.filter)
        self._reader = CopyReader(instance.name, source)
        self._stopped: list[CopyReader] = []
        self._xa_commits = XaCommits()
        self._signal = threading.Event()
        self._signal.set()
        self._watch = store.watch(instance.name, self._signal)
        self._requests: Mapping[str, SnapshotRequest] = {}
        self._run: CopyRun | None = None
        self._ending: dict[str, SnapshotRequest] = {}
        self._poll_at_s = 0.0
        self._lost: tuple[str, ...] = ()

    @property
    def busy(self) -> bool:
        """Return whether `step` may have something to do: a request runs or ends, or the requests
        changed in ZooKeeper.
        """
        return self._run is not None or bool(self._ending) or self._signal.is_set()

    @property
    def window(self) -> Window | None:
        """The window of the chunk that is being read; None if no chunk is being read."""
        return None if self._run is None else self._run.window

    def close(self) -> None:
        """End the reading thread. Its results are dropped."""
        self._watch.cancel()
        for reader in (*self._stopped, self._reader):
            reader.stop()
            reader.join()
        self._stats.copying = CopyView()

    def statement(self, renamed: Collection[TableId]) -> None:
        """List the tables again, because the stream had a statement. `renamed` are names that it
        may have given to other tables. The next position record has no progress under these names,
        not even of paused requests.
        """
        names = [str(each) for each in renamed]
        if self._run is not None:
            self._run.tables_changed("a statement changed tables while it was read.", names)
        recorded = self._recorded()
        kept = {name: each.renamed(names) for name, each in recorded.items()}
        if kept != recorded:
            self._checkpoint.count_copied(0, 0, kept)

    def renewed(self) -> None:
        """List the tables again, because another mapping set is active."""
        if self._run is not None:
            self._run.tables_changed("the mapping changed.")

    def changed(
        self, events: Sequence[RowsEvent], plan: TablePlan | Dropped, *, kept_back: bool
    ) -> None:
        """Record changes of a table whose messages are in the open batch. `kept_back`: some of them
        are dead letters instead. A request reads its table again from the beginning if a row may
        have moved into the copied part without a message.
        """
        run, recorded = self._run, self._recorded()
        if run is not None and run.window is not None:
            note_changes(run.window, events, plan, self._accepted, kept_back=kept_back)
        kept = {
            name: each.begun_again()
            for name, each in recorded.items()
            if moves_unseen(each, events, plan, self._accepted, kept_back=kept_back)
        }
        if run is not None and run.request.id in kept:
            run.begin_again()
        if kept:
            self._checkpoint.count_copied(0, 0, {**recorded, **kept})

    def xa_committed(self, table: TableId) -> None:
        """Record that an XA COMMIT changed this table: SELECTs may not show its rows yet."""
        self._xa_commits.take(table)

    def skipped(self) -> None:
        """Read the present chunk again, because an operator skipped a transaction."""
        if self._run is not None:
            self._run.void("a transaction was skipped.")

    def step(self, router: Router) -> None:
        """Do the next steps between two source transactions, without waiting for the source.
        `router` routes by the active mapping set.
        """
        now_s = monotonic()
        if self._signal.is_set() or (self._ending and now_s >= self._poll_at_s):
            self._poll_at_s = now_s + _POLL_SECONDS
            self._poll()
        if self._run is None or not self._progress.leaves_nothing_out:
            return
        run, printed = self._run, None
        if self._must_wait_for_xa(run):
            run.waits("the source may not show an XA COMMIT to SELECTs yet")
        elif run.window is None and (wait := self._wait_by_lag()) is not None:
            run.waits(wait.reason)
        else:
            printed = self._printed(run, router)
        if printed is not None:
            self._publisher.publish(run, printed, self._recorded())
        elif self._run is run and run.progress.done:
            self._done(run)
        self._show()

    def _must_wait_for_xa(self, run: CopyRun) -> bool:
        """Return whether no window may open; MySQL, which has a uuid, reports what SELECTs see."""
        table = run.current if run.window is None else None
        return (
            table is not None
            and self._xa_commits.may_hide(table.id)
            and not self._progress.record.source.identity.server_uuid
        )

    def _wait_by_lag(self) -> CopyWait | None:
        lag_s = self._stats.lag_seconds(self._source.heartbeat_seconds)
        return decide_by_lag(self._instance.copying, lag_s)

    def _show(self) -> None:
        view = self._run.view if self._run is not None else CopyView()
        self._stats.copying = replace(view, lost=self._lost)

    def _printed(self, run: CopyRun, router: Router) -> PrintedChunk | None:
        """Return the messages that may be published now, None if there are none.

        An error ends the request and not the stream, as long as the open batch is unchanged.
        """
        began_s = monotonic()
        try:
            run.advance(lambda: self._progress.record, router, self._accepted)
            ready = run.ready(self._progress.at)
            return None if ready is None else self._publisher.printed(run, ready, router)
        except _ENDS_SESSION:
            raise
        except Unreachable as exc:
            run.read_again(str(exc), after_s=retry_after_s(monotonic() - began_s))
        except RelayError as exc:
            if not run.leaves_out(str(exc)):
                self._end(run, SnapshotState.REFUSED, str(exc))
        except Exception as exc:  # noqa: BLE001 - a bug here ends the request, not the stream
            log_unexpected("copy", f"copy-{self._instance.name}", exc)
            failed = SnapshotRefused(
                f"Copying {run.view.table} failed: {type(exc).__name__}: {exc}.",
                remedy="This is a bug of the relay; its log has the details.",
            )
            self._end(run, SnapshotState.REFUSED, str(failed))
        return None

    def _done(self, run: CopyRun) -> None:
        """End the request once Kafka holds its last chunk."""
        recorded = self._progress.record.snapshots.get(run.request.id)
        if recorded != run.progress:
            self._checkpoint.count_copied(0, 0, {**self._recorded(), run.request.id: run.progress})
            self._checkpoint.commit_open()
        committed = self._stats.record
        if committed is not None and committed.snapshots.get(run.request.id) == run.progress:
            told = own_requests.end_sentence(run.request.id, run.progress.tables, run.refusals)
            named = own_requests.sentence_of_keys(run.request, run.progress)
            self._end(run, SnapshotState.DONE, told or named)

    def _end(self, run: CopyRun, state: SnapshotState, reason: str) -> None:
        ended = replace(run.request, state=state, reason=reason, rows=run.progress.rows)
        _log.info(
            "snapshot_ended",
            instance=self._instance.name,
            request=ended.id,
            state=state.value,
            rows=ended.rows,
            reason=reason,
        )
        self._ending[ended.id] = ended
        self._run = None
        self._poll()

    def _recorded(self) -> dict[str, SnapshotProgress]:
        return self._progress.record.snapshots

    def _poll(self) -> None:
        """Read the requests, write the results of ended ones, and choose the next one."""
        self._signal.clear()
        try:
            for ended in list(self._ending.values()):
                own_requests.write_end(self._store, ended)
                self._ending.pop(ended.id, None)
            own_requests.create_missing(self._store, self._instance.name, self._recorded())
            found = self._store.all_of(self._instance.name)
        except StoreUnreachable:
            return  # the next connection signals again
        self._requests = {each.id: each for each in found}
        self._forget_ended()
        self._lost = tuple(sorted(self._recorded().keys() - self._requests.keys()))
        wanted = next(
            (
                each
                for each in found
                if each.state is SnapshotState.RUNNING and each.id not in self._ending
            ),
            None,
        )
        if self._run is not None and wanted == self._run.request:
            return
        self._begin(wanted)

    def _begin(self, wanted: SnapshotRequest | None) -> None:
        """Carry out another request from where its progress is."""
        if self._run is not None or self._reader.waiting:
            self._reader.stop()
            self._stopped = [each for each in (*self._stopped, self._reader) if not each.ended]
            self._reader = CopyReader(self._instance.name, self._source)
        self._run = None
        self._show()
        if wanted is None:
            return
        progress = self._recorded().get(wanted.id, SnapshotProgress())
        self._run = run = CopyRun(wanted, progress, self._source, self._reader, self._instance)
        if reason := copies_refusal(self._instance):
            self._end(run, SnapshotState.REFUSED, str(SnapshotRefused(reason)))

    def _forget_ended(self) -> None:
        kept = own_requests.still_asked(self._recorded(), self._requests)
        if kept != self._recorded():
            self._checkpoint.count_copied(0, 0, kept)
