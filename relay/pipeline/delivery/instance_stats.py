"""Counts and progress of an instance, for the status and the metrics."""

from collections import Counter
from dataclasses import dataclass, field
from time import monotonic, time

from relay.model.names.column_likeness import ColumnLikeness
from relay.model.records.position_record import PositionRecord
from relay.model.row_path import RowPath
from relay.model.table import TableId
from relay.pipeline.delivery.copy_view import CopyView
from relay.pipeline.delivery.lag import Reached, lag_seconds
from relay.pipeline.delivery.open_batch import OpenBatch
from relay.telemetry import MOST_TABLES, TableRates, TableTotals, Totals


@dataclass(slots=True)
class InstanceStats:
    """Counts and progress of one instance, written by the publishing thread and read by others.

    `record` is the last committed one, `published_set` the mapping set that it names (None: not
    read yet), `reached` is the base of the lag; `dropped` holds a row count by real name and
    reason, `printed` one by real name, path and reason (a SlowReason or ""), `tables` every real
    name that was read, also by earlier relays, `key_differences` sentences about topics whose
    equal keys are in two partitions, by topic and logical table, `copying` the running snapshot
    request, `rates` how many rows per second the tables have, `binlog_kept_s` how long the source
    keeps a binlog file (0: until it is purged by a command), `likeness` which published table an
    unmapped one resembles.
    """

    totals: Totals = field(default_factory=Totals)
    record: PositionRecord | None = None
    published_set: int | None = None
    reached: Reached = field(default_factory=Reached)
    dropped: Counter[tuple[TableId, str]] = field(default_factory=Counter)
    printed: Counter[tuple[TableId, RowPath, str]] = field(default_factory=Counter)
    copying: CopyView = field(default_factory=CopyView)
    tables: set[TableId] = field(default_factory=set)
    key_differences: dict[tuple[str, str], str] = field(default_factory=dict)
    rates: TableRates = field(default_factory=lambda: TableRates(MOST_TABLES))
    binlog_kept_s: int | None = None
    likeness: ColumnLikeness = field(default_factory=ColumnLikeness)

    @classmethod
    def of(cls, most_tables: int) -> "InstanceStats":
        """Return empty ones that count at most `most_tables` tables separately."""
        totals = Totals(tables=TableTotals(most_tables))
        return cls(totals, rates=TableRates(most_tables))

    def rows_by_table(self) -> Counter[str]:
        """Return the rows that were printed of each real table."""
        rows: Counter[str] = Counter()
        for (table, _, _), count in list(self.printed.items()):
            rows[str(table)] += count
        return rows

    def committed(
        self, record: PositionRecord, batch: OpenBatch, messages: int, seconds: float
    ) -> None:
        """Kafka has said yes to a batch of `messages` rows and statements, `seconds` after it was
        asked.
        """
        totals = self.totals
        totals.published_rows += batch.rows
        totals.copied_rows += batch.copied_rows
        totals.published_messages += messages
        totals.published_bytes += batch.value_bytes
        totals.undecodable_values += batch.undecodable_values
        totals.claims += batch.claims
        totals.dead_letters += batch.dead_letters
        totals.tables.add(batch.tables)
        totals.commits += 1
        totals.commit_seconds.append(seconds)
        if batch.oldest_ms is not None and messages:
            totals.publish_seconds.append(max(0.0, time() - batch.oldest_ms / 1000))
        self.published_set = record.mapping_set
        self.resumed(record)

    def connected(self, binlog_kept_s: int | None) -> None:
        """Count a connection to the source; None: its retention of the binlog is not known now."""
        self.totals.source_connections += 1
        if binlog_kept_s is not None:
            self.binlog_kept_s = binlog_kept_s

    def resumed(self, record: PositionRecord) -> None:
        """Set the record that was committed last, at a run's start."""
        self.record = record
        self.done_up_to(record.change_time_ms)

    def done_up_to(self, change_time_ms: int) -> None:
        """Every change up to this time, Unix milliseconds, is visible or left out."""
        self.reached = self.reached.with_change(change_time_ms / 1000)

    def caught_up(self, running_s: float) -> None:
        """Record that the source has no more data and no item waits, at this time of the
        monotonic clock.
        """
        self.reached = self.reached.with_idle(running_s)

    def lag_seconds(self, heartbeat_s: float) -> float | None:
        """Return the lag of the instance in seconds, None if unknown.

        `heartbeat_s`: interval of an idle source's heartbeats.
        """
        return lag_seconds(self.reached, time(), monotonic(), heartbeat_s)

    def print(self, table: TableId, path: RowPath, reason: str, rows: int) -> None:
        """Count rows of a real table by their printer. `reason`: why the readable packages printed
        them.
        """
        self.printed[table, path, reason] += rows
        self.totals.printed_rows[path, reason] += rows

    def drop(self, table: TableId, reason: str, cause: str, rows: int) -> None:
        """Note rows of a real table that are left out."""
        self.dropped[table, reason] += rows
        self.totals.dropped_rows[cause] += rows
