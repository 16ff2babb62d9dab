"""Metrics of a client. They are collected if the client gets a `registry` of
prometheus_client.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from roma_client.records.change import Change
from roma_client.records.order_guard import Partition

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric


class Metrics(Protocol):
    """Receives a client's metrics. The names of events are repeat, retry, skipped, dead_letter,
    corrupt and lost_ack.
    """

    def delivered(self, change: Change, delay_seconds: float) -> None:
        """Count a change that was given to the service; `delay_seconds` is its age."""

    def happened(self, event: str, times: int = 1) -> None:
        """Count `times` events of this name."""

    def lag(self, partition: Partition, offsets: int) -> None:
        """Set the lag of a partition: the number of its offsets that are not acknowledged,
        including those of Kafka's transaction markers.
        """

    def gone(self, partition: Partition) -> None:
        """Remove a partition that this client no longer has."""


class NoMetrics:
    """Ignores all metrics."""

    def delivered(self, change: Change, delay_seconds: float) -> None:
        """Ignore the change."""

    def happened(self, event: str, times: int = 1) -> None:
        """Ignore the event."""

    def lag(self, partition: Partition, offsets: int) -> None:
        """Ignore the lag."""

    def gone(self, partition: Partition) -> None:
        """Ignore the partition."""


class PrometheusMetrics:
    """Metrics `roma_client_…` with the label `group`, in a registry of prometheus_client.

    Only one client can use a registry: make one for each subscription of a process.
    """

    def __init__(self, registry: "CollectorRegistry", group: str) -> None:
        # an optional dependency, needed only here
        from prometheus_client import Counter, Gauge  # noqa: PLC0415

        self._group = group
        self._events = Counter(
            "roma_client_events",
            "Dropped repeats, retries, dead letters, corrupt records, acknowledgements "
            "without effect.",
            ("group", "event"),
            registry=registry,
        )
        self._delivered = _Delivered(group)
        registry.register(self._delivered)
        self._lag = Gauge(
            "roma_client_lag_offsets",
            "Offsets that are not acknowledged, markers of Kafka transactions included.",
            ("group", "topic", "partition"),
            registry=registry,
        )

    def delivered(self, change: Change, delay_seconds: float) -> None:
        """Count a change that was given to the service; `delay_seconds` is its age."""
        self._delivered.add(change, delay_seconds)

    def happened(self, event: str, times: int = 1) -> None:
        """Count `times` events of this name."""
        self._events.labels(self._group, event).inc(times)

    def lag(self, partition: Partition, offsets: int) -> None:
        """Set the lag of a partition: the number of its offsets that are not acknowledged,
        including those of Kafka's transaction markers.
        """
        self._lag.labels(self._group, partition[0], str(partition[1])).set(offsets)

    def gone(self, partition: Partition) -> None:
        """Remove a partition that this client no longer has."""
        with suppress(KeyError):  # its lag was never shown
            self._lag.remove(self._group, partition[0], str(partition[1]))


class _Delivered:
    """What a client has delivered, as a collector: the samples are made when Prometheus asks.

    One thread adds; any thread collects.
    """

    def __init__(self, group: str) -> None:
        self._group = group
        self._changes: dict[tuple[str, str, str], int] = {}
        self._delay_seconds: float | None = None

    def add(self, change: Change, delay_seconds: float) -> None:
        """Count a change, and add its delay to the statistics."""
        names = (change.database, change.table, change.operation.value)
        self._changes[names] = self._changes.get(names, 0) + 1
        self._delay_seconds = delay_seconds

    def describe(self) -> "Iterable[Metric]":
        """Return the metrics without samples: the registry compares their names."""
        return self._families()

    def collect(self) -> "Iterable[Metric]":
        """Return the metrics."""
        changes, delay = self._families()
        for names, number in self._changes.copy().items():
            changes.add_metric((self._group, *names), number)
        if self._delay_seconds is not None:
            delay.add_metric((self._group,), self._delay_seconds)
        return changes, delay

    def _families(self) -> "tuple[CounterMetricFamily, GaugeMetricFamily]":
        # an optional dependency, needed only here
        from prometheus_client.core import (  # noqa: PLC0415
            CounterMetricFamily,
            GaugeMetricFamily,
        )

        return (
            CounterMetricFamily(
                "roma_client_changes",
                "Changes that the service received.",
                labels=("group", "database", "table", "operation"),
            ),
            GaugeMetricFamily(
                "roma_client_delay_seconds",
                "Time from the commit on the source to the delivery of the last change.",
                labels=("group",),
            ),
        )
