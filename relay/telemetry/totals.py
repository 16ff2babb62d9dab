"""What an instance has done since its relay started: plain numbers, written by its publishing
thread alone and shown from another.
"""

from collections import Counter, deque
from dataclasses import dataclass, field

from prometheus_client import Counter as Metric

from relay.model.row_path import RowPath
from relay.telemetry.metrics import InstanceMetrics


@dataclass(slots=True)
class Totals:
    """Numbers that only grow.

    Those of `source_` and `dropped_` count what was read, again when it is read again; those of
    `published_`, `claims` and `dead_letters` only what Kafka has committed. `aborts` are by the
    code of what ended the batch, `dead_letters` by that of what kept the row back, `dropped_rows`
    by cause, `printed_rows` by path and reason, again when printed again; `late_transactions` are
    those of a group that came too late for their place, `throttled_seconds` is time spent waiting
    on request, `commit_seconds` holds the commits' durations that are not shown yet,
    `publish_seconds` the ages of their oldest changes. `errors` are by code.
    """

    source_connections: int = 0
    source_transactions: int = 0
    source_rows: int = 0
    source_bytes: int = 0
    published_rows: int = 0
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


class ShownTotals:
    """Raises an instance's counters to its totals; used by one thread."""

    def __init__(self, metrics: InstanceMetrics) -> None:
        self._metrics = metrics
        self._shown: dict[Metric, float] = {}

    def show(self, totals: Totals) -> None:
        """Raise every counter by what came since the last call."""
        metrics = self._metrics
        for metric, total in (
            (metrics.source_rows, totals.source_rows),
            (metrics.source_transactions, totals.source_transactions),
            (metrics.source_bytes, totals.source_bytes),
            (metrics.source_reconnects, max(0, totals.source_connections - 1)),
            (metrics.published_rows, totals.published_rows),
            (metrics.published_messages, totals.published_messages),
            (metrics.published_bytes, totals.published_bytes),
            (metrics.undecodable_values, totals.undecodable_values),
            (metrics.claims, totals.claims),
            (metrics.commits, totals.commits),
            (metrics.fences, totals.fences),
            (metrics.late_transactions, totals.late_transactions),
            (metrics.throttled_seconds, totals.throttled_seconds),
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
        ):
            self._raise_to(metric, total)
        while totals.commit_seconds:
            metrics.commit_seconds.observe(totals.commit_seconds.popleft())
        while totals.publish_seconds:
            metrics.publish_seconds.observe(totals.publish_seconds.popleft())

    def _raise_to(self, metric: Metric, total: float) -> None:
        shown = self._shown.get(metric, 0)
        if total > shown:
            metric.inc(total - shown)
            self._shown[metric] = total
