"""The totals of an instance since its relay started: numbers that only its publishing thread
writes and another thread shows.
"""

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from prometheus_client import Counter as Metric

from relay.model.row_path import RowPath
from relay.telemetry.instance_metrics import InstanceMetrics
from relay.telemetry.table_counts import TableCount, TableOperation, TableTotals

MOST_TABLES: Final = 100
"""Number of an instance's logical tables with separate metrics, if no setting gives another one."""


@dataclass(slots=True)
class Totals:
    """Counts that only grow.

    source_*       what was read from the source, repeated reads included
    published_*, copied_rows, claims, commits, tables  committed data only
    undecodable_values  committed values with bytes that are not valid characters
    fences         how often Kafka fenced this relay's producer
    late_transactions  transactions of a group that arrived too late for their position in the order
    throttled_seconds  time for which reading paused because of rate limits
    aborts         aborted batches, by the error code that ended them
    dropped_rows   rows without a message by cause, repeated reads included
    printed_rows   printed rows by path and reason; a row that is printed again counts again
    dead_letters   committed dead letters, by the error code of the row
    errors         errors of the instance, by code
    commit_seconds   durations of commits that `ShownTotals` has not shown yet
    publish_seconds  ages of the oldest change in those commits
    """

    source_connections: int = 0
    source_transactions: int = 0
    source_rows: int = 0
    source_bytes: int = 0
    published_rows: int = 0
    copied_rows: int = 0
    published_messages: int = 0
    published_bytes: int = 0
    undecodable_values: int = 0
    claims: int = 0
    commits: int = 0
    fences: int = 0
    late_transactions: int = 0
    throttled_seconds: float = 0.0
    aborts: Counter[str] = field(default_factory=Counter)
    dropped_rows: Counter[str] = field(default_factory=Counter)
    printed_rows: Counter[tuple[RowPath, str]] = field(default_factory=Counter)
    dead_letters: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    commit_seconds: deque[float] = field(default_factory=deque)
    publish_seconds: deque[float] = field(default_factory=deque)
    tables: TableTotals = field(default_factory=lambda: TableTotals(MOST_TABLES))

    def forget_tables(self) -> None:
        """Count tables from zero: this relay does not publish the instance any more."""
        self.tables = self.tables.followed_by_none()


class ShownTotals:
    """Raises an instance's metrics to its totals; used by one thread."""

    def __init__(self, metrics: InstanceMetrics) -> None:
        self._metrics = metrics
        self._shown: dict[Metric, float] = {}
        self._tables: dict[TableOperation, TableCount] = {}
        self._totals: TableTotals | None = None

    def show(self, totals: Totals) -> None:
        """Raise every counter by the increase since the last call."""
        metrics = self._metrics
        for metric, total in (*self._plain(totals), *self._labelled(totals)):
            self._raise_to(metric, total)
        while totals.commit_seconds:
            metrics.commit_seconds.observe(totals.commit_seconds.popleft())
        while totals.publish_seconds:
            metrics.publish_seconds.observe(totals.publish_seconds.popleft())
        self._show_tables(totals.tables)

    def _plain(self, totals: Totals) -> Iterable[tuple[Metric, float]]:
        metrics = self._metrics
        return (
            (metrics.source_rows, totals.source_rows),
            (metrics.source_transactions, totals.source_transactions),
            (metrics.source_bytes, totals.source_bytes),
            (metrics.source_reconnects, max(0, totals.source_connections - 1)),
            (metrics.published_rows, totals.published_rows),
            (metrics.copied_rows, totals.copied_rows),
            (metrics.published_messages, totals.published_messages),
            (metrics.published_bytes, totals.published_bytes),
            (metrics.undecodable_values, totals.undecodable_values),
            (metrics.claims, totals.claims),
            (metrics.commits, totals.commits),
            (metrics.fences, totals.fences),
            (metrics.late_transactions, totals.late_transactions),
            (metrics.throttled_seconds, totals.throttled_seconds),
        )

    def _labelled(self, totals: Totals) -> Iterable[tuple[Metric, float]]:
        # The instance's thread may add a key meanwhile, so each dictionary is copied before it is
        # read.
        metrics = self._metrics
        return (
            *((metrics.aborts(code), total) for code, total in list(totals.aborts.items())),
            *((metrics.errors(code), total) for code, total in list(totals.errors.items())),
            *(
                (metrics.dropped_rows(cause), total)
                for cause, total in list(totals.dropped_rows.items())
            ),
            *(
                (metrics.printed_rows(*by), total)
                for by, total in list(totals.printed_rows.items())
            ),
            *(
                (metrics.dead_letters(code), total)
                for code, total in list(totals.dead_letters.items())
            ),
        )

    def _show_tables(self, totals: TableTotals) -> None:
        if totals is not self._totals:
            self._metrics.remove_tables()
            self._totals, self._tables = totals, {}
        for by, count in totals.each():
            shown = self._tables.get(by, TableCount())
            if count != shown:
                self._tables[by] = count
                for metric, total, before in zip(
                    self._metrics.published_of_table(*by), count, shown, strict=True
                ):
                    metric.inc(total - before)

    def _raise_to(self, metric: Metric, total: float) -> None:
        shown = self._shown.get(metric, 0)
        if total > shown:
            metric.inc(total - shown)
            self._shown[metric] = total
