"""Reads metrics over time for charts, from Prometheus if it is configured, otherwise from the
admin's own observations.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from time import monotonic, time
from typing import Final

from api.services.watch.history import SPANS, Metric, Range, Series
from api.services.watch.prometheus import TIMEOUT_SECONDS, PrometheusReader, PrometheusUnusable
from api.services.watch.watch import SPARK_POINTS, Watch
from relay.errors import ResourcesExhausted
from relay.future_of_call import complete_future
from relay.threads import RelayThread

KEPT_SECONDS: Final = 5.0
"""An answer is reused for this many seconds."""
AWAY_SECONDS: Final = 10.0
"""After a failed query, no query is sent to Prometheus for this many seconds."""
MOST_KEPT: Final = 200
MOST_AT_ONCE: Final = 4
"""Largest number of parallel queries to Prometheus; further requests use the values of the
watch.
"""
_MS: Final = 1000


@dataclass(frozen=True, slots=True)
class Charted:
    """The values of one metric over time.

    series   instance → its values
    problem  why the values are not from Prometheus; "": they are, or Prometheus is not configured
    """

    series: dict[str, Series]
    problem: str = ""


class Charts:
    """Returns metrics over time to all pages and endpoints. Thread-safe.

    `reader` is None if Prometheus is not configured.
    """

    def __init__(
        self,
        watch: Watch,
        reader: PrometheusReader | None,
        clock_s: Callable[[], float] = monotonic,
        now_s: Callable[[], float] = time,
    ) -> None:
        self._watch = watch
        self._reader = reader
        self._clock_s = clock_s
        self._now_s = now_s
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(MOST_AT_ONCE)
        self._kept: dict[tuple[Metric, str | None, Range], tuple[float, dict[str, Series]]] = {}
        self._away_until_s = float("-inf")
        self._problem = ""

    def series(self, name: str, metric: Metric, span: Range) -> tuple[Series, str]:
        """Return one metric of an instance, and the reason why it is not from Prometheus.

        The reason is empty if the values are from Prometheus, or if Prometheus is not configured.
        Raises NodeMissing for an unknown instance.
        """
        seen = self._watch.series(name, metric, span)
        if self._reader is None:
            return seen, ""
        found = self._asked(self._reader, metric, name, span, len(seen.values))
        if found.problem:
            return seen, found.problem
        empty = Series(seen.from_ms, seen.step_s, [None] * len(seen.values))
        return found.series.get(name, empty), ""

    def sparks(self, metric: Metric) -> Charted:
        """Return one metric of every instance during the last hour, in 24 values."""
        seen = self._watch.sparks(metric)
        if self._reader is None or not seen:
            return Charted(seen)
        found = self._asked(self._reader, metric, None, "1h", SPARK_POINTS)
        if found.problem:
            return Charted(seen, found.problem)
        known = next(iter(seen.values()))
        empty = Series(known.from_ms, known.step_s, [None] * SPARK_POINTS)
        return Charted({name: found.series.get(name, empty) for name in seen})

    def _asked(
        self, reader: PrometheusReader, metric: Metric, name: str | None, span: Range, points: int
    ) -> Charted:
        asked, clock_s = (metric, name, span), self._clock_s()
        with self._lock:
            kept = self._kept.get(asked)
            if kept is not None and clock_s - kept[0] < KEPT_SECONDS:
                return Charted(kept[1])
            if clock_s < self._away_until_s:
                return Charted({}, self._problem)
        if not self._free.acquire(blocking=False):  # says nothing of the server
            return Charted({}, f"{MOST_AT_ONCE} queries to Prometheus are already running.")
        found = self._within_time(partial(self._read, reader, metric, name, span, points))
        with self._lock:
            if found.problem:
                self._problem, self._away_until_s = found.problem, self._clock_s() + AWAY_SECONDS
            else:
                self._keep(asked, found.series)
        return found

    def _within_time(self, read: Callable[[], Charted]) -> Charted:
        """Read in another thread, which keeps the slot that was taken until the server answers."""
        answer: Future[Charted] = Future()

        def run() -> None:
            complete_future(answer, read)
            self._free.release()

        try:
            RelayThread("prometheus", "", run).start()
        except ResourcesExhausted as exc:
            self._free.release()
            return Charted({}, exc.reason)
        try:
            return answer.result(TIMEOUT_SECONDS)
        except TimeoutError:
            return Charted({}, f"Prometheus did not answer within {TIMEOUT_SECONDS:.0f} s.")

    def _read(
        self, reader: PrometheusReader, metric: Metric, name: str | None, span: Range, points: int
    ) -> Charted:
        width = SPANS[span]
        end_s = (int(self._now_s() // width.bucket_s) + 1) * width.bucket_s
        try:
            return Charted(
                reader.series(
                    metric,
                    name,
                    (end_s - width.seconds) * _MS,
                    width.seconds / points,
                    points,
                )
            )
        except PrometheusUnusable as exc:
            return Charted({}, str(exc))

    def _keep(self, asked: tuple[Metric, str | None, Range], series: dict[str, Series]) -> None:
        if len(self._kept) >= MOST_KEPT:
            self._kept.pop(next(iter(self._kept)))
        self._kept.pop(asked, None)
        self._kept[asked] = self._clock_s(), series
