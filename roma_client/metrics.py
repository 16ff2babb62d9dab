"""Figures of a client: for Prometheus where its client library is installed, otherwise nowhere."""

from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from roma_client.records.change import Change
from roma_client.records.order_guard import Partition

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


class Metrics(Protocol):
    """What a client counts. `event` is one of repeat, retry, dead_letter, corrupt, lost_ack."""

    def delivered(self, change: Change, delay_seconds: float) -> None:
        """Count a change that the service got, and how old it was."""

    def happened(self, event: str, times: int = 1) -> None:
        """Count an event of this name."""

    def lag(self, partition: Partition, offsets: int) -> None:
        """Set how many offsets of a partition are not acknowledged, markers included."""

    def gone(self, partition: Partition) -> None:
        """Remove a partition that this client no longer has."""


class NoMetrics:
    """Metrics that are not collected."""

    def delivered(self, change: Change, delay_seconds: float) -> None:
        """Count nothing."""

    def happened(self, event: str, times: int = 1) -> None:
        """Count nothing."""

    def lag(self, partition: Partition, offsets: int) -> None:
        """Set nothing."""

    def gone(self, partition: Partition) -> None:
        """Remove nothing."""


class PrometheusMetrics:
    """Metrics `roma_client_…` with the label `group`, in a registry of prometheus_client.

    One registry takes one client: make one registry for each subscription of a process.
    """

    def __init__(self, registry: "CollectorRegistry", group: str) -> None:
        # an optional dependency, needed only here
        from prometheus_client import Counter, Gauge  # noqa: PLC0415

        self._group = group
        self._changes = Counter(
            "roma_client_changes",
            "Changes that the service received.",
            ("group", "database", "table", "operation"),
            registry=registry,
        )
        self._events = Counter(
            "roma_client_events",
            "Dropped repeats, retries, dead letters, corrupt records, acknowledgements "
            "without effect.",
            ("group", "event"),
            registry=registry,
        )
        self._delay = Gauge(
            "roma_client_delay_seconds",
            "Time from the commit on the source to the delivery of the last change.",
            ("group",),
            registry=registry,
        )
        self._counters: dict[tuple[str, str, str], Counter] = {}
        self._delay_of_group: Gauge | None = None
        self._lag = Gauge(
            "roma_client_lag_offsets",
            "Offsets that are not acknowledged, markers of Kafka transactions included.",
            ("group", "topic", "partition"),
            registry=registry,
        )

    def delivered(self, change: Change, delay_seconds: float) -> None:
        """Count a change that the service got, and how old it was."""
        names = (change.database, change.table, change.operation.value)
        counter = self._counters.get(names)
        if counter is None:  # to find the child of a counter costs more than to count
            counter = self._counters[names] = self._changes.labels(self._group, *names)
        counter.inc()
        if self._delay_of_group is None:
            self._delay_of_group = self._delay.labels(self._group)
        self._delay_of_group.set(delay_seconds)

    def happened(self, event: str, times: int = 1) -> None:
        """Count an event of this name."""
        self._events.labels(self._group, event).inc(times)

    def lag(self, partition: Partition, offsets: int) -> None:
        """Set how many offsets of a partition are not acknowledged."""
        self._lag.labels(self._group, partition[0], str(partition[1])).set(offsets)

    def gone(self, partition: Partition) -> None:
        """Remove a partition that this client no longer has."""
        with suppress(KeyError):  # its lag was never shown
            self._lag.remove(self._group, partition[0], str(partition[1]))
