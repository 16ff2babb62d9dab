"""Collects the messages and the counts of one Kafka transaction (batch) while it is open."""

from relay.model.message import OutboundMessage, PrintedMessages
from relay.model.positions.position import OrderPair
from relay.model.records.snapshot_progress import SnapshotProgress
from relay.model.table import TableId
from relay.pipeline.checkpoint.progress import Progress
from relay.pipeline.checkpoint.progress_view import ProgressView
from relay.pipeline.checkpoint.skip_audit import SkipAudit
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.pipeline.delivery.open_batch import OpenBatch
from relay.pipeline.delivery.outbox import Outbox
from relay.telemetry import COPIED, OpenTableCounts, TableCount


class BatchContents:
    """Puts messages into the open batch, and counts its rows; the base class of `Checkpoint`.

    `progress` is a read-only view of the instance's progress.
    """

    def __init__(
        self, outbox: Outbox, progress: Progress, skip_audit: SkipAudit, stats: InstanceStats
    ) -> None:
        self.progress: ProgressView = progress
        self._progress = progress
        self._outbox = outbox
        self._skip_audit = skip_audit
        self._stats = stats
        self._batch = OpenBatch()
        self._tables = OpenTableCounts()

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
        """Put a message whose value is in the claim-check store into the open batch, and count a
        claim.
        """
        self.add(message)
        self._batch.claims += 1

    def add_own(self, message: OutboundMessage) -> None:
        """Put a record of the relay itself, such as a heartbeat, into the open batch. Its bytes are
        not counted as published.
        """
        self._outbox.send(message)

    def add_deletion(self, message: OutboundMessage) -> None:
        """Put a tombstone into the open batch; it deletes a record of the relay itself."""
        self._outbox.send_deletion(message)

    # Counts of the open batch

    def count_published(
        self, rows: int, size_bytes: int, left_out: int = 0, order: OrderPair | None = None
    ) -> None:
        """Count source rows as published in the open batch.

        rows        number of rows
        size_bytes  their size in the binlog
        left_out    how many of them have no message
        order       the order key of the last row; None: each row took one order key
        """
        batch, progress = self._batch, self._progress
        batch.event_bytes += size_bytes
        batch.rows += max(0, rows - progress.to_skip - left_out)
        progress.take(rows, order)
        totals = self._stats.totals
        totals.source_rows += rows
        totals.source_bytes += size_bytes

    @property
    def open_counts(self) -> tuple[int, int]:
        """The number of rows in the open batch, and the bytes of its message values."""
        return self._batch.rows, self._batch.value_bytes

    def count_table(self, table: TableId, operation: str, rows: int, size_bytes: int) -> None:
        """Count published rows of a logical table.

        table       the logical table
        operation   the operation of the rows
        rows        number of rows
        size_bytes  size of their message values
        """
        if rows > 0:
            self._tables.count(table, operation, rows, size_bytes)

    def count_copied(
        self,
        rows: int,
        size_bytes: int,
        snapshots: dict[str, SnapshotProgress],
        table: TableId | None = None,
        order: OrderPair | None = None,
    ) -> None:
        """Count rows of a copied table (snapshot), whose messages are in the open batch.

        rows        number of rows
        size_bytes  size of their message values
        snapshots   the new progress of all copy requests
        table       the logical table; None: there are no rows
        order       the order key of the rows; None: there are no rows

        Copied rows come from a SELECT, so they do not count as rows of the binlog.
        """
        self._batch.copied_rows += rows
        if table is not None:
            self._tables.add(((table, COPIED, TableCount(rows, 0, size_bytes)),))
        self._batch.event_bytes += size_bytes
        self._progress.copies(snapshots, order)

    def count_left_out(self, rows: int, size_bytes: int, keys: int | None = None) -> None:
        """Count source rows that get no message.

        rows        number of rows
        size_bytes  their size in the binlog
        keys        how many order keys they take nevertheless; None: one for each row
        """
        time_ms, position = self._progress.order
        order = OrderPair(time_ms, position + (rows if keys is None else keys))
        self._progress.take(rows, order)
        totals = self._stats.totals
        totals.source_rows += rows
        totals.source_bytes += size_bytes

    def count_skipped(self, table: TableId, rows: int) -> None:
        """Count rows of a transaction that an operator skips, for its audit entry; a statement
        counts as one row.
        """
        self._skip_audit.count(table, rows)

    def count_statement(self) -> None:
        """Count a statement as one change of the open transaction."""
        self._progress.take(1, None)

    def count_prepared(self, size_bytes: int) -> None:
        """Count a row event of a prepared XA transaction as one change that takes no order key.

        `size_bytes` is its size in the binlog, 0 if an earlier attempt already stored the event.
        """
        self._progress.take_prepared()
        self._batch.event_bytes += size_bytes

    def count_undecodable(self, values: int) -> None:
        """Count values that were published with U+FFFD because their bytes could not be decoded."""
        self._batch.undecodable_values += values

    def count_dead_letter(self, code: str) -> None:
        """Count a row that was written to the dead letter topic, under the code of its error."""
        self._batch.dead_letters[code] += 1
