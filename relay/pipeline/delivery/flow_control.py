"""Pauses and throttles an instance according to its settings and its operators' orders."""

import threading
from collections.abc import Callable
from time import monotonic
from typing import Final

import structlog

from relay.errors import StoreUnreachable
from relay.pipeline.delivery.rate_limiter import Paid, Rates
from relay.settings import InstanceSettings
from relay.state import Flow, FlowStore
from relay.telemetry import Totals
from relay.zk import Watch

_MOMENT_SECONDS: Final = 0.2
"""Length of one wait in seconds; between waits, commits, a stop and the election are checked."""

_log = structlog.stdlib.get_logger(__name__)


class FlowControl:
    """Decides whether the instance may take rows now; used by its publishing thread.

    While ZooKeeper is unavailable, the operators' last known orders apply.
    """

    def __init__(self, store: FlowStore, instance: InstanceSettings, totals: Totals) -> None:
        self._store = store
        self._name = instance.name
        self._totals = totals
        self._signal = threading.Event()
        self._watch: Watch | None = None
        self._flow = Flow()
        self._rates = _rates(self._flow, instance)
        self._instance = instance
        self._paid = Paid()
        self._rows = self._bytes = 0

    def watch(self) -> None:
        """Begin to watch the operators' flow orders in ZooKeeper."""
        self._signal.set()
        self._watch = self._store.watch(self._name, self._signal)

    @property
    def paused(self) -> bool:
        """Return whether an operator paused the instance. Reads ZooKeeper only after its watch
        fired.
        """
        if self._signal.is_set():
            self._poll()
        return self._flow.paused

    @property
    def asked(self) -> str:
        """A sentence that says who paused the instance or which rates limit it; "" if it is neither
        paused nor limited.
        """
        if self._flow.paused:
            return " ".join(
                part
                for part in ("paused by", self._flow.by or "somebody", self._flow.comment)
                if part
            )
        limits = ((self._rates.rows, "rows/s"), (self._rates.bytes, "bytes/s"))
        return ", ".join(f"{limit:.0f} {unit}" for limit, unit in limits if limit is not None)

    def wait_to_go_on(self, stop: threading.Event, leads: Callable[[], bool]) -> None:
        """Wait until the instance is no longer paused, no longer leads, or `stop` is set."""
        while self.paused and leads() and not stop.wait(_MOMENT_SECONDS):
            continue

    def holds_back(self, stop: threading.Event) -> bool:
        """Return whether the rate limits allow no more rows now. If so, first wait up to 0.2
        seconds.
        """
        if self._rates == _ANY:
            return False
        now_s = monotonic()
        rows, size_bytes = self._totals.source_rows, self._totals.source_bytes
        self._paid = self._paid.with_taken(
            self._rates, rows - self._rows, size_bytes - self._bytes, now_s
        )
        self._rows, self._bytes = rows, size_bytes
        wait_s = min(self._paid.wait_seconds(self._rates, now_s), _MOMENT_SECONDS)
        if wait_s <= 0:
            return False
        stop.wait(wait_s)
        self._totals.throttled_seconds += wait_s
        return True

    def _poll(self) -> None:
        self._signal.clear()
        try:
            flow = self._store.read(self._name)
        except StoreUnreachable:
            return  # the next connection signals again
        if flow != self._flow:
            self._flow, self._rates, self._paid = flow, _rates(flow, self._instance), Paid()
            self._rows, self._bytes = self._totals.source_rows, self._totals.source_bytes
            _log.info(
                "flow_limits_changed",
                instance=self._name,
                asked=self.asked or "nothing",
                by=flow.by,
            )


_ANY: Final = Rates()


def _rates(flow: Flow, instance: InstanceSettings) -> Rates:
    """Return an operator's limits, otherwise those of the file; 0 is no limit."""
    settings = instance.flow
    rows = settings.rows_per_second if flow.rows_per_second is None else flow.rows_per_second
    size_bytes = (
        settings.bytes_per_second if flow.bytes_per_second is None else flow.bytes_per_second
    )
    return Rates(rows or None, size_bytes or None)
