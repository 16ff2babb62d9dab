"""The metrics of one client id."""

from contextlib import suppress

from relay.telemetry import metrics
from roma_client.metrics import NoMetrics
from roma_client.records.order_guard import Partition


class ClientFigures(NoMetrics):
    """Batches out, rows and lag of a client id. The lag comes from the client library."""

    def __init__(self, destination: str, client_id: str) -> None:
        self._labels = (destination, client_id)
        self._lags: dict[Partition, int] = {}

    @property
    def names(self) -> dict[str, str]:
        """Return destination and client id for the log."""
        destination, client_id = self._labels
        return {"destination": destination, "client_id": client_id}

    def delivered_rows(self, rows: int) -> None:
        """Count the rows of a delivered batch."""
        metrics.CANAL_ROWS.labels(self._labels[0]).inc(rows)

    def show(self, batches_out: int) -> None:
        """Set the metric of unacknowledged batches."""
        metrics.CANAL_BATCHES_OUT.labels(*self._labels).set(batches_out)

    def lag(self, partition: Partition, offsets: int) -> None:
        """Note the lag of a partition, and show the sum of all."""
        self._lags[partition] = offsets
        self._show_lag()

    def gone(self, partition: Partition) -> None:
        """Drop the lag of a partition that this client no longer has."""
        self._lags.pop(partition, None)
        self._show_lag()

    def remove(self) -> None:
        """Remove the metrics of the client id."""
        for each in (metrics.CANAL_BATCHES_OUT, metrics.CANAL_LAG):
            with suppress(KeyError):
                each.remove(*self._labels)

    def _show_lag(self) -> None:
        metrics.CANAL_LAG.labels(*self._labels).set(sum(self._lags.values()))
