"""Builds one Kafka transaction, from its first message to the position record that closes it."""

from collections.abc import Sequence
from time import monotonic, time
from typing import Final

from relay.model.change import Advance, StreamItem, TransactionBegin, TransactionEnd
from relay.model.names.mapping_name import MappingName
from relay.model.records.last_transaction import last_changed
from relay.pipeline.buffer import Chunk
from relay.pipeline.checkpoint.batch_contents import BatchContents
from relay.pipeline.checkpoint.commit_policy import BatchEnd, BatchView, batch_end
from relay.pipeline.checkpoint.part_guard import PartGuard
from relay.pipeline.checkpoint.position_message import PositionMessages
from relay.pipeline.checkpoint.progress import Progress
from relay.pipeline.checkpoint.skip_audit import SkipAudit
from relay.pipeline.checkpoint.skip_policy import SkipReason
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.pipeline.delivery.open_batch import OpenBatch
from relay.pipeline.delivery.outbox import Closing, Outbox
from relay.pipeline.messages.printing.transaction_printer import WholeTransactions
from relay.settings import TransactionSettings

POLL_INTERVAL_SECONDS: Final = 0.002
"""While items arrive without a pause, the commit policy is asked at this interval."""
_POLL_BYTES: Final = 1 << 20


class Checkpoint(BatchContents):
    """Owns the open batch: its messages, the progress, and the position record that closes it. No
    other class changes them; one thread uses it. The methods of `BatchContents` add messages and
    counts; the methods here follow the source and commit. `batch_number` counts the batches of this
    run from 1. `publish_time_ms` is the publishing time in messages: the wall clock at the last
    poll, in Unix milliseconds.
    """

    def __init__(
        self,
        outbox: Outbox,
        progress: Progress,
        position: PositionMessages,
        parts: PartGuard,
        skip_audit: SkipAudit,
        stats: InstanceStats,
        settings: TransactionSettings,
    ) -> None:
        super().__init__(outbox, progress, skip_audit, stats)
        self.batch_number = 1
        self.publish_time_ms = _now_ms()
        self._position = position
        self._parts = parts
        self._settings = settings
        self._skew_ms = int(settings.max_clock_skew_seconds * 1000)
        self._poll_bytes = min(settings.busy_commit_bytes, settings.split_bytes, _POLL_BYTES) // 16
        self._poll_at_s = 0.0
        self._poll_at_bytes = 0
        self._committed_at_s = monotonic()

    @property
    def is_empty(self) -> bool:
        """Return whether the open batch has no message and Kafka has answered all commits."""
        return not self._outbox.committing and not self._outbox.messages

    # Items of the source

    def open_transaction(self, begin: TransactionBegin) -> None:
        """Begin a source transaction. If it must be read to its end before its first row is
        published (see `PartGuard`), commit the open batch and read it. Raises HistoryChanged if
        another transaction than the expected half-published one begins, BatchAborted,
        SavepointRolledBack and AskedToStop.
        """
        progress = self._progress
        if self._parts.reads_first(progress.following, begin, progress.split):
            self.commit_open()
            self._parts.read(progress.following, begin, progress.split)
        progress.start_transaction(begin, self.publish_time_ms, self._skew_ms)
        self._tables.begin_transaction()
        self._note_begin(begin)

    def saw(self, items: Sequence[StreamItem]) -> None:
        """Record that `items` of the open transaction were read. The first ones help to identify
        the transaction.
        """
        self._progress.saw(items)

    def close_transaction(self, end: TransactionEnd) -> None:
        """Record that the open source transaction ended with `end`."""
        progress = self._progress
        if progress.skip_reason is SkipReason.SKIPPED and progress.begin is not None:
            self._skip_audit.end(progress.begin, progress.following)
        progress.end_transaction(end)
        self._stats.totals.source_transactions += 1

    def close_whole_transactions(self, chunk: Chunk, found: WholeTransactions) -> None:
        """Record the whole source transactions in `found`, which were printed together. Their items
        begin at the present index of the chunk.
        """
        self._note_begin(chunk.items[chunk.at])
        last = last_changed(chunk.items, chunk.at, chunk.at + found.items)
        change_time_ms = min(found.last_begin.change_time_ms, self.publish_time_ms)
        self._progress.end_transactions(
            found.gtids, found.last_end, found.order, change_time_ms, last
        )
        self._batch.event_bytes += found.event_bytes
        self._batch.rows += found.rows
        self._tables.add(found.counted)
        totals = self._stats.totals
        totals.source_transactions += found.transactions
        totals.source_rows += found.rows
        totals.source_bytes += found.event_bytes

    def advance(self, item: Advance) -> None:
        """Record that the position moved without a transaction, or that the source has no more
        data.
        """
        self._progress.advance(item)

    def follow(self, source: str) -> None:
        """Record that the next items come from `source`, the name of a source in a group."""
        self._progress.follow(source)

    def publish_under(self, mapping: MappingName) -> None:
        """Record that the mapping set `mapping` is active from the next source transaction on."""
        self._progress.publish_under(mapping)

    # The end of a batch

    def read_clock(self) -> None:
        """Read the wall clock as the publishing time of the next messages."""
        self.publish_time_ms = _now_ms()

    def poll(self) -> None:
        """Ask the commit policy whether to commit, if enough time or bytes passed since the last
        poll, or after a statement.
        """
        batch = self._batch
        if (
            monotonic() >= self._poll_at_s
            or batch.event_bytes >= self._poll_at_bytes
            or batch.alone
        ):
            self.read_clock()
            self.commit_if_due(idle=False)

    def commit_if_due(self, *, idle: bool) -> None:
        """Request the commit of the open batch if the commit policy says so. `idle`: the buffer is
        empty. While the producer accepts no message of another batch, nothing is committed and the
        next items join the open batch, unless it holds a statement. Raises AskedToStop, and the
        error of the previous commit.
        """
        self._poll_at_s = monotonic() + POLL_INTERVAL_SECONDS
        self._poll_at_bytes = self._batch.event_bytes + self._poll_bytes
        self._outbox.poll_commit()
        if self._outbox.full and not self._batch.alone:
            return
        answered = not self._outbox.committing
        view = self._view(idle=idle)
        end = batch_end(view, self._settings)
        if end is BatchEnd.PART:
            self._include_part()
        if end is not BatchEnd.NOT_YET:
            self._commit()
        elif view.whole and not view.messages and answered:
            self._nothing_open(idle=idle)
        if idle and answered:
            self._progress.source_idle = False

    def commit_start(self) -> None:
        """Commit the resolved start position as the instance's first record, and wait for Kafka's
        answer.
        """
        self._commit()
        self._outbox.await_commit()

    def commit_open(self) -> None:
        """Commit the open batch if it has messages or the position moved, and wait for Kafka's
        answer. Call it only between two source transactions.
        """
        if self._outbox.messages or self._progress.moved:
            self._commit()
            self._outbox.await_commit()

    def commit_part(self) -> None:
        """Commit everything taken so far, including a part of the open transaction, and wait for
        Kafka's answer. The XA publisher calls it before it reads rows of a prepared transaction
        back from their topic.
        """
        self._include_part()
        self._commit()
        self._outbox.await_commit()

    def commit_before_statement(self) -> None:
        """Commit the messages before a statement separately, so that consumers see them before the
        statement.
        """
        if self._outbox.messages:
            self._include_part()
            self._commit(Closing.ALONE)
        if self._outbox.needs_barrier:
            self._include_part()
            self._commit(Closing.BARRIER)

    def end_with_statement(self) -> None:
        """Record that the open batch holds a statement, so that the next poll commits the batch at
        once.
        """
        self._batch.alone = True

    def await_commit(self) -> None:
        """Wait for the answers to all requested commits. Raises a commit's error, and AskedToStop
        if the instance is stopped and no answer arrives.
        """
        self._outbox.await_commit()

    def abort(self) -> None:
        """Wait for the answers to all commits, then drop the messages that were not yet passed to
        the producer. The caller then aborts the producer's transaction. Raises as `await_commit`
        does.
        """
        self._outbox.abort()

    def _note_begin(self, item: StreamItem) -> None:
        """Note when the first transaction of the open batch was committed on the source."""
        if self._batch.oldest_ms is None and isinstance(item, TransactionBegin):
            self._batch.oldest_ms = item.change_time_ms

    def _view(self, *, idle: bool) -> BatchView:
        batch, outbox, progress = self._batch, self._outbox, self._progress
        return BatchView(
            messages=outbox.messages,
            size_bytes=batch.event_bytes,
            open_seconds=outbox.open_seconds,
            whole=progress.whole,
            idle=idle or batch.alone,
            moved=progress.moved,
            seconds_since_commit=monotonic() - self._committed_at_s,
        )

    def _nothing_open(self, *, idle: bool) -> None:
        """Everything taken is committed.

        If the last item was a heartbeat and the buffer is empty, the instance has caught up.
        """
        self._stats.done_up_to(self._progress.change_time_ms)
        if idle and self._progress.source_idle:
            self._stats.caught_up(monotonic())

    def _include_part(self) -> None:
        """Let the next record count the changes of the open transaction, if it has any and none
        was rolled back.
        """
        progress = self._progress
        if (begin := progress.part_begin) is not None:
            self._parts.before_part(progress.following, begin)
            progress.part_done()

    def _commit(self, how: Closing = Closing.OVERLAPPING) -> None:
        """Commit the open batch by the steps of docs/delivery.md.

        Raises AskedToStop, and the error of the commit before.

        Step 1, the check of a part, is `_include_part`. Step 7 follows when Kafka answers:
        `Outbox.await_commit`.
        """
        progress, position = self._progress, self._position
        # 2. The record says exactly what the batch holds, and how its rows were placed.
        progress.draft.partitioned(
            position.partitions, position.partition_rules, position.hashed_forms
        )
        progress.draft.formatted(position.formats)
        closing = position.closing(progress.record, _now_ms())
        progress.draft.keeps(closing.record.kept_mappings)
        # 3. What must be durable with the record is sent beside it.
        beside = [*self._skip_audit.taken(), *closing.beside]
        # 4. The answer to the commit before is awaited, or, with two ids, the acknowledgement of
        # its messages. 5. Messages, those beside and the record are sent, and the commit is asked
        # for. Consumers see a statement after the rows before it, and before the rows after it.
        self._batch.tables = self._tables.taken()
        self._outbox.commit(
            closing.message,
            closing.record,
            self._batch,
            beside,
            Closing.ALONE if self._batch.alone else how,
        )
        # 6. The next batch begins while Kafka commits this one.
        progress.moved = False
        self._batch = OpenBatch()
        if progress.begin is not None:  # its further parts are in the next batch
            self._note_begin(progress.begin)
        self.batch_number += 1
        self._committed_at_s = monotonic()


def _now_ms() -> int:
    return int(time() * 1000)
