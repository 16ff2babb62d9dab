"""Counts the work and the progress of an instance, for its status and metrics."""

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
    """Counts and progress of one instance. The publishing thread writes them, other threads read
    them.

    totals           counters since the relay's start
    record           the last committed position record
    published_set    the number of the mapping set that the record names; None: no record was read
    reached          the times up to which everything is processed; the lag follows from them
    dropped          rows without message by (real table, reason)
    printed          rows by (real table, path, reason); reason: why compiled code did not print
                     them, "" if it did
    copying          the running copy request
    tables           every real table that was read, also by earlier relays
    key_differences  (topic, logical table) → a sentence: equal keys of the table are in two
                     partitions of the topic
    rates            rows per second by table
    binlog_kept_s    seconds for which the source keeps a binlog file; 0: until a command purges it
    likeness         which published table an unmapped table resembles
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
        """Return empty statistics that count at most `most_tables` tables separately."""
        totals = Totals(tables=TableTotals(most_tables))
        return cls(totals, rates=TableRates(most_tables))

    def rows_by_table(self) -> Counter[str]:
        """Return the number of printed rows by real table."""
        rows: Counter[str] = Counter()
        for (table, _, _), count in list(self.printed.items()):
            rows[str(table)] += count
        return rows

    def committed(
        self, record: PositionRecord, batch: OpenBatch, messages: int, seconds: float
    ) -> None:
        """Count a batch that Kafka has committed.

        `record` is its position record, `messages` the number of its messages, and `seconds` how
        long Kafka took to answer.
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
        """Count a connection to the source.

        `binlog_kept_s` is for how many seconds the source keeps a binlog file; None: unknown.
        """
        self.totals.source_connections += 1
        if binlog_kept_s is not None:
            self.binlog_kept_s = binlog_kept_s

    def resumed(self, record: PositionRecord) -> None:
        """Set the committed record from which a run continues."""
        self.record = record
        self.done_up_to(record.change_time_ms)

    def done_up_to(self, change_time_ms: int) -> None:
        """Record that every change up to this time (Unix milliseconds) is published or left out."""
        self.reached = self.reached.with_change(change_time_ms / 1000)

    def caught_up(self, running_s: float) -> None:
        """Record that the source has no more data and no item waits. `running_s` is the monotonic
        clock now.
        """
        self.reached = self.reached.with_idle(running_s)

    def lag_seconds(self, heartbeat_s: float) -> float | None:
        """Return the lag of the instance in seconds; None if it is unknown.

        `heartbeat_s` is the interval in seconds at which an idle source sends heartbeats.
        """
        return lag_seconds(self.reached, time(), monotonic(), heartbeat_s)

    def print(self, table: TableId, path: RowPath, reason: str, rows: int) -> None:
        """Count rows of a real table by the path that printed them. `reason`: why it was the
        readable path, "" for compiled code.
        """
        self.printed[table, path, reason] += rows
        self.totals.printed_rows[path, reason] += rows

    def drop(self, table: TableId, reason: str, cause: str, rows: int) -> None:
        """Count rows of a real table that got no message. `reason` is a sentence, `cause` the
        metric label.
        """
        self.dropped[table, reason] += rows
        self.totals.dropped_rows[cause] += rows
