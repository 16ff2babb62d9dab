"""The stream's metrics for Prometheus.

A batch is counted after Spark has recorded its end, so that a batch that is applied again counts
once.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    disable_created_metrics,
    start_http_server,
)
from pyspark.sql.streaming import StreamingQueryListener
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
)

from spark_jobs.config.job import JobSettings
from spark_jobs.errors import JobConfigurationError
from spark_jobs.spark_util.batch_stats import BatchFigures
from spark_jobs.spark_util.progress import Piece

_KEPT: Final = 16
"""Figures wait here between a batch's end and Spark's word about it, which come one after the
other.
"""


_without_creation_times: Callable[[], None] = disable_created_metrics
_without_creation_times()  # they are one more series for each counter, which no rule uses


class JobMetrics(StreamingQueryListener):
    """A listener of Spark's stream that counts batches. `registry` contains the metrics."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._figures: dict[int, BatchFigures] = {}
        self._lock = Lock()
        counter, gauge = _makers(self.registry)
        self._batches = counter("batches", "Batches that are applied and noted in the checkpoint")
        self._rows = counter("rows", "Changes of rows read, including quarantined ones")
        self._winners = counter("winners", "Rows of copies written")
        self._stale = counter("stale", "Changes older than the copy or another change of the batch")
        self._deletes = counter("deletes", "Keys whose newest change of a batch was a delete")
        self._aside = counter("put_aside", "Messages put aside")
        self._truncates = counter(
            "truncates", "Real tables that a TRUNCATE emptied, followed into the copies"
        )
        self._history = counter(
            "history_rows",
            "Changes of history rows of system-versioned tables, which no copy contains",
        )
        self._replayed = counter("replayed_tables", "Tables that contained a repeated batch")
        self._lag = gauge(
            "lag_seconds", "Age of the newest message when the last batch was written to the copies"
        )
        self._rate = gauge("rows_per_second", "Rows of the last batch by its time")
        self._seconds = gauge(
            "batch_seconds", "Time that the last batch took, Spark's own part included"
        )
        self._number = gauge("batch_number", "Number of the last batch")
        self._running = gauge("running", "1 while the stream runs")
        self._piece: Piece | None = None
        self._show_running_batch(gauge)

    def _show_running_batch(self, gauge: Callable[[str, str], Gauge]) -> None:
        running_rows = gauge(
            "running_batch_rows",
            (
                "Rows that the running step of the current batch has read or written; 0 between "
                "batches"
            ),
        )
        running_rows.set_function(lambda: self._of_batch(lambda piece: piece.rows))
        running_total = gauge(
            "running_batch_total_rows",
            "Rows of the current batch; 0 while they are counted, and between batches",
        )
        running_total.set_function(lambda: self._of_batch(lambda piece: piece.total or 0))
        running_seconds = gauge(
            "running_batch_seconds",
            "Time since the running step of the current batch began; 0 between batches",
        )
        running_seconds.set_function(lambda: self._of_batch(lambda piece: piece.seconds))

    def began(self, piece: Piece | None) -> None:
        """Set the batch whose progress the metrics show; None: no batch runs."""
        self._piece = piece

    def _of_batch(self, figure: Callable[[Piece], float]) -> float:
        piece = self._piece
        if piece is None:
            return 0.0
        piece.poll()
        return figure(piece)

    def applied(self, number: int, figures: BatchFigures) -> None:
        """Record the counts of a batch that is in the copies; `number` is the number of the
        batch.
        """
        with self._lock:
            self._figures[number] = figures
            for old in sorted(self._figures)[:-_KEPT]:
                del self._figures[old]

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        """Record that the stream runs. Spark calls it."""
        self._running.set(1)

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        """Count a finished batch. Spark calls it. A batch without messages changes nothing."""
        number = event.progress.batchId
        with self._lock:
            figures = self._figures.pop(number, None)
        if figures is None:
            return
        self._batches.inc()
        self._rows.inc(figures.rows)
        self._winners.inc(figures.winners)
        self._stale.inc(figures.stale)
        self._deletes.inc(figures.deletes)
        self._aside.inc(figures.put_aside)
        self._truncates.inc(figures.truncates)
        self._history.inc(figures.history)
        self._replayed.inc(figures.replayed)
        self._lag.set(figures.lag_seconds)
        self._rate.set(figures.rate)
        self._seconds.set(event.progress.batchDuration / 1000)
        self._number.set(number)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        """Do nothing. Spark calls it while no messages arrive."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        """Record that the stream has ended. Spark calls it."""
        self._running.set(0)


@contextmanager
def served_metrics(settings: JobSettings) -> Iterator[JobMetrics | None]:
    """Context manager: serve the metrics on `/metrics` while the block runs; yields None without a
    port.

    Raises JobConfigurationError if the address cannot be used.
    """
    if settings.metrics_port is None:
        yield None
        return
    metrics = JobMetrics()
    try:
        server, thread = start_http_server(
            settings.metrics_port, settings.metrics_host, metrics.registry
        )
    except OSError as exc:
        raise JobConfigurationError(
            f"{settings.metrics_host}:{settings.metrics_port} cannot serve metrics: {exc.strerror}."
        ) from exc
    try:
        yield metrics
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _makers(
    registry: CollectorRegistry,
) -> tuple[Callable[[str, str], Counter], Callable[[str, str], Gauge]]:
    """Makers of metrics that all begin alike."""

    def counter(name: str, text: str) -> Counter:
        return Counter(f"roma_dedup_{name}", text, registry=registry)

    def gauge(name: str, text: str) -> Gauge:
        return Gauge(f"roma_dedup_{name}", text, registry=registry)

    return counter, gauge
