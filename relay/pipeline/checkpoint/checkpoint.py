"""What one Kafka transaction publishes, from its first message to the position record that closes
it.
"""

from collections.abc import Sequence
from time import monotonic, time
from typing import Final

from relay.model.change import Advance, StreamItem, TransactionBegin, TransactionEnd
from relay.model.message import OutboundMessage, PrintedMessages
from relay.model.names.mapping_name import MappingName
from relay.model.positions.position import OrderPair
from relay.model.records.last_transaction import last_changed
from relay.model.table import TableId
from relay.pipeline.buffer import Chunk
from relay.pipeline.checkpoint.commit_policy import BatchEnd, BatchView, batch_end
from relay.pipeline.checkpoint.part_guard import PartGuard
from relay.pipeline.checkpoint.position_message import PositionMessages
from relay.pipeline.checkpoint.progress import Progress
from relay.pipeline.checkpoint.progress_view import ProgressView
from relay.pipeline.checkpoint.skip_audit import SkipAudit
from relay.pipeline.checkpoint.skip_policy import SkipReason
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.pipeline.delivery.open_batch import OpenBatch
from relay.pipeline.delivery.outbox import Outbox
from relay.pipeline.messages.printing.transaction_printer import WholeTransactions
from relay.settings import TransactionSettings

POLL_INTERVAL_SECONDS: Final = 0.002
"""While items follow one another, the commit policy is asked this often."""
_POLL_BYTES: Final = 1 << 20


class Checkpoint:
    """Owns the open batch, its messages, the progress and the position message; used by one thread.

    No other class writes any of them. `progress` is for reading. `batch_number` counts the batches
    of this session from 1. `publish_time_ms` is the wall clock at the last poll: what messages name
    as the time of their publication.
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
        self.progress: ProgressView = progress
        self.batch_number = 1
        self.publish_time_ms = _now_ms()
        self._progress = progress
        self._outbox = outbox
        self._position = position
        self._parts = parts
        self._skip_audit = skip_audit
        self._stats = stats
        self._settings = settings
        self._batch = OpenBatch()
        self._skew_ms = int(settings.max_clock_skew_seconds * 1000)
        self._poll_bytes = min(settings.busy_commit_bytes, settings.split_bytes, _POLL_BYTES) // 16
        self._poll_at_s = 0.0
        self._poll_at_bytes = 0
        self._committed_at_s = monotonic()

    # Items of the source

    def open_transaction(self, begin: TransactionBegin) -> None:
        """Begin a source transaction.

        Where it must be read to its end first, commit what is open and read it.

        Raises HistoryChanged when another one follows than the half-published one, BatchAborted,
        SavepointRolledBack and AskedToStop.
        """
        progress = self._progress
        if self._parts.reads_first(progress.following, begin, progress.split):
            self.commit_open()
            self._parts.read(progress.following, begin, progress.split)
        progress.start_transaction(begin, self.publish_time_ms, self._skew_ms)
        self._note_begin(begin)

    def saw(self, items: Sequence[StreamItem]) -> None:
        """Note items of the open transaction; the first ones identify it."""
        self._progress.saw(items)

    def close_transaction(self, end: TransactionEnd) -> None:
        """End the open source transaction."""
        progress = self._progress
        if progress.skip_reason is SkipReason.SKIPPED and progress.begin is not None:
            self._skip_audit.end(progress.begin, progress.following)
        progress.end_transaction(end)
        self._stats.totals.source_transactions += 1

    def close_whole_transactions(self, chunk: Chunk, found: WholeTransactions) -> None:
        """Count transactions that were printed together, from the chunk's place on."""
        self._note_begin(chunk.items[chunk.at])
        last = last_changed(chunk.items, chunk.at, chunk.at + found.items)
        change_time_ms = min(found.last_begin.change_time_ms, self.publish_time_ms)
        self._progress.end_transactions(
            found.gtids, found.last_end, found.order, change_time_ms, last
        )
        self._batch.event_bytes += found.event_bytes
        self._batch.rows += found.rows
        totals = self._stats.totals
        totals.source_transactions += found.transactions
        totals.source_rows += found.rows
        totals.source_bytes += found.event_bytes

    def advance(self, item: Advance) -> None:
        """Move the position without a transaction, or note that the source has nothing more."""
        self._progress.advance(item)

    def follow(self, source: str) -> None:
        """Note that the next items are of this source of a group."""
        self._progress.follow(source)

    def publish_under(self, mapping: MappingName) -> None:
        """Note that another mapping set is in force from the next transaction on."""
        self._progress.publish_under(mapping)

    # Messages of the open batch

    def add(self, message: OutboundMessage) -> None:
        """Put a message into the open batch."""
        self._outbox.send(message)
        self._batch.value_bytes += len(message.value or b"")

    def add_printed(self, topic: str, messages: PrintedMessages) -> None:
        """Put messages of one topic into the open batch."""
        self._outbox.send_printed(topic, messages)
        self._batch.value_bytes += messages.value_bytes

    def add_claim(self, message: OutboundMessage) -> None:
        """Put a message into the open batch whose value is in the store of large values."""
        self.add(message)
        self._batch.claims += 1

    def add_own(self, message: OutboundMessage) -> None:
        """Put a record of the relay's own into the open batch; its bytes are not published ones."""
        self._outbox.send(message)

    def add_deletion(self, message: OutboundMessage) -> None:
        """Put the deletion (tombstone) of one of the relay's own records into the open batch."""
        self._outbox.send_deletion(message)

    # Counts of the open batch

    def count_published(
        self, rows: int, size_bytes: int, left_out: int = 0, order: OrderPair | None = None
    ) -> None:
        """Count rows of the source that were handed over, `left_out` of them without a message.

        `size_bytes` are bytes as logged. `order` is the order key of the last change; None: each
        row took one.
        """
        batch, progress = self._batch, self._progress
        batch.event_bytes += size_bytes
        batch.rows += max(0, rows - progress.to_skip - left_out)
        progress.take(rows, order)
        totals = self._stats.totals
        totals.source_rows += rows
        totals.source_bytes += size_bytes

    def count_left_out(self, rows: int, size_bytes: int) -> None:
        """Count rows of which nothing is published; they take order keys all the same."""
        self._progress.take(rows, None)
        totals = self._stats.totals
        totals.source_rows += rows
        totals.source_bytes += size_bytes

    def count_skipped(self, table: TableId, rows: int) -> None:
        """Note rows (or a statement, as one) of a transaction that an operator skips, for the entry
        of the audit trail.
        """
        self._skip_audit.count(table, rows)

    def count_statement(self) -> None:
        """Count a statement as one change."""
        self._progress.take(1, None)

    def count_prepared(self, size_bytes: int) -> None:
        """Count a row event of a prepared transaction: one change without an order key.

        `size_bytes` 0: it is kept already.
        """
        self._progress.take_prepared()
        self._batch.event_bytes += size_bytes

    def count_undecodable(self, values: int) -> None:
        """Count values that were published as they could not be decoded."""
        self._batch.undecodable_values += values

    def count_dead_letter(self, code: str) -> None:
        """Count a row that went to the dead letters."""
        self._batch.dead_letters[code] += 1

    # The end of a batch

    def read_clock(self) -> None:
        """Take the wall clock as the time of publication of what follows."""
        self.publish_time_ms = _now_ms()

    def poll(self) -> None:
        """While items follow one another, ask the commit policy now and then: by time, by bytes,
        and after a statement.
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
        """Ask for the commit of the open batch when the policy says so.

        `idle`: nothing waits in the buffer.

        While a commit is unanswered, what follows joins one batch. Raises AskedToStop, and the
        error of the commit before.
        """
        self._poll_at_s = monotonic() + POLL_INTERVAL_SECONDS
        self._poll_at_bytes = self._batch.event_bytes + self._poll_bytes
        self._outbox.poll_commit()
        if self._outbox.committing and not self._batch.alone:
            return
        view = self._view(idle=idle)
        end = batch_end(view, self._settings)
        if end is BatchEnd.PART:
            self._include_part()
        if end is not BatchEnd.NOT_YET:
            self._commit()
        elif view.whole and not view.messages:
            self._nothing_open(idle=idle)
        if idle:
            self._progress.source_idle = False

    def commit_start(self) -> None:
        """Write the resolved start position, the first record of an instance, and wait until Kafka
        has it.
        """
        self._commit()
        self._outbox.await_commit()

    def commit_open(self) -> None:
        """Commit the whole transactions that are open, if there are any, and wait until Kafka has
        them.
        """
        if self._outbox.messages or self._progress.moved:
            self._commit()
            self._outbox.await_commit()

    def commit_part(self) -> None:
        """Commit what was taken so far, a part of the open transaction included, and wait until
        Kafka has it.

        Rows of a prepared transaction that are read back from their topic must have been committed
        there.
        """
        self._include_part()
        self._commit()
        self._outbox.await_commit()

    def commit_before_statement(self) -> None:
        """Commit what was sent before a statement, without the statement: consumers see it
        first.
        """
        if self._outbox.messages:
            self._include_part()
            self._commit()

    def end_with_statement(self) -> None:
        """Note that the open batch holds a statement: it is committed without waiting for what
        follows.
        """
        self._batch.alone = True

    def await_commit(self) -> None:
        """Wait for the answer to the last commit.

        Raises the error that it is, and AskedToStop when none comes.
        """
        self._outbox.await_commit()

    def abort(self) -> None:
        """Wait for the answer to the last commit, and drop the messages that the producer does not
        have yet.

        The session then aborts the producer's transaction. Raises as `await_commit` does.
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
        """Let the next record count the changes of the open transaction, if there are any and none
        was rolled back.
        """
        progress = self._progress
        if (begin := progress.part_begin) is not None:
            self._parts.before_part(progress.following, begin)
            progress.part_done()

    def _commit(self) -> None:
        """Commit the open batch by the steps of docs/delivery.md.

        Raises AskedToStop, and the error of the commit before.

        Step 1, the check of a part, is `_include_part`. Step 7 follows when Kafka answers:
        `Outbox.await_commit`.
        """
        progress, position = self._progress, self._position
        # 2. The record says exactly what the batch holds, and how its rows were placed.
        progress.placed(position.partitions, position.partition_rules)
        closing = position.closing(progress.record, _now_ms())
        progress.keeps(closing.record.kept_mappings)
        # 3. What must be durable with the record is sent beside it.
        beside = [*self._skip_audit.taken(), *closing.beside]
        # 4. The answer to the commit before is awaited. 5. Messages, those beside and the record
        # are sent, and the commit is asked for.
        self._outbox.commit(closing.message, closing.record, self._batch, beside)
        # 6. The next batch begins while Kafka commits this one.
        progress.moved = False
        self._batch = OpenBatch()
        if progress.begin is not None:  # its further parts are in the next batch
            self._note_begin(progress.begin)
        self.batch_number += 1
        self._committed_at_s = monotonic()


def _now_ms() -> int:
    return int(time() * 1000)
