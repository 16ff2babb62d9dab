"""The metrics of one client id."""

from contextlib import suppress

from relay.telemetry import metrics
from roma_client.metrics import NoMetrics
from roma_client.records.order_guard import Partition


class ClientFigures(NoMetrics):
    """Metrics of one client id: unacknowledged batches, rows and lag. The client library reports
    the lag.
    """

    def __init__(self, destination: str, client_id: str) -> None:
        self._labels = (destination, client_id)
        self._lags: dict[Partition, int] = {}

    @property
    def names(self) -> dict[str, str]:
        """Return destination and client id as fields of a log entry."""
        destination, client_id = self._labels
        return {"destination": destination, "client_id": client_id}

    def delivered_rows(self, rows: int) -> None:
        """Add the number of rows in a delivered batch."""
        metrics.CANAL_ROWS.labels(self._labels[0]).inc(rows)

    def show(self, batches_out: int) -> None:
        """Set the metric to this number of unacknowledged batches."""
        metrics.CANAL_BATCHES_OUT.labels(*self._labels).set(batches_out)

    def lag(self, partition: Partition, offsets: int) -> None:
        """Record the lag of a partition, and set the metric to the sum of all partitions."""
        self._lags[partition] = offsets
        self._show_lag()

    def gone(self, partition: Partition) -> None:
        """Remove the lag of a partition that this client no longer has."""
        self._lags.pop(partition, None)
        self._show_lag()

    def remove(self) -> None:
        """Remove the metrics of the client id."""
        for each in (metrics.CANAL_BATCHES_OUT, metrics.CANAL_LAG):
            with suppress(KeyError):
                each.remove(*self._labels)

    def _show_lag(self) -> None:
        metrics.CANAL_LAG.labels(*self._labels).set(sum(self._lags.values()))
