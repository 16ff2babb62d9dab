"""Stores the history of one instance: its lag and rate over time, and its changes of state."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from api.models.instance import InstanceView
from api.services.watch.facts import Facts, StatePeriod, present_state
from api.services.watch.rate import LONGEST_GAP_MS, Reading, rows_per_second
from api.services.watch.ring import Fold, Ring, folded

Metric = Literal["rows", "lag"]
Range = Literal["1h", "6h", "24h", "7d"]

_MS: Final = 1000
_PERIODS: Final = 200
"""Changes of state that are kept of one instance."""
_SIZES: Final[Mapping[int, int]] = {5: 720, 60: 1440, 600: 1008}
"""Width of a bucket in seconds → number of buckets: an hour, a day, a week."""
_FOLDS: Final[Mapping[Metric, Fold]] = {"rows": "mean", "lag": "max"}


@dataclass(frozen=True, slots=True)
class Span:
    """A range of time for charts.

    seconds   its length
    bucket_s  length in seconds of the stored buckets from which it is read
    points    number of values that are shown
    """

    seconds: int
    bucket_s: int
    points: int


SPANS: Final[Mapping[Range, Span]] = {
    "1h": Span(3600, 5, 120),
    "6h": Span(21_600, 60, 120),
    "24h": Span(86_400, 60, 144),
    "7d": Span(604_800, 600, 168),
}


@dataclass(frozen=True, slots=True)
class Series:
    """Values at equal intervals.

    from_ms  begin of the first interval in Unix milliseconds
    step_s   length of an interval in seconds
    values   one value for each interval; None: unknown
    """

    from_ms: int
    step_s: float
    values: list[float | None]


class InstanceHistory:
    """Stores what the admin has observed about one instance over time."""

    def __init__(self) -> None:
        self._rings = {
            metric: {step: Ring(step, size, fold) for step, size in _SIZES.items()}
            for metric, fold in _FOLDS.items()
        }
        self._periods: deque[StatePeriod] = deque(maxlen=_PERIODS)
        self._reading: Reading | None = None
        self._last_ms = 0
        self.facts: Facts | None = None

    def add(self, view: InstanceView, now_ms: int, lag_limit_s: float) -> Facts:
        """Record a status of the instance, and return the present facts.

        view         the status
        now_ms       when it was read, in Unix milliseconds
        lag_limit_s  the lag in seconds above which an operator is needed
        """
        self._add_state(view, now_ms)
        rate = self._add_rate(view, now_ms)
        lag = view.lag_seconds if view.relay_alive else None
        self._put("lag", now_ms, lag)
        above = lag is not None and lag > lag_limit_s
        letters = _new_letters(self.facts, view)
        before = self.facts or Facts(view, self._periods[-1])
        self.facts = Facts(
            view,
            self._periods[-1],
            rate,
            _since(before.lag_since_ms, above, now_ms),
            _since(before.mapping_since_ms, bool(view.mapping_problem), now_ms),
            _since(before.spool_since_ms, view.spool == "full", now_ms),
            now_ms if letters else before.letters_ms,
            before.letters + letters,
        )
        self._last_ms = now_ms
        return self.facts

    def series(self, metric: Metric, span: Span, now_ms: int, points: int | None = None) -> Series:
        """Return a metric over a span that ends with the bucket in which `now_ms` is.

        `points` is the number of values, which must divide the number of the span's buckets; None:
        the number that the span defines. A value is None where it is unknown.
        """
        wanted, now_s = points or span.points, now_ms / _MS
        count = span.seconds // span.bucket_s
        raw = self._rings[metric][span.bucket_s].read(now_s, count)
        end_s = (int(now_s // span.bucket_s) + 1) * span.bucket_s
        return Series(
            (end_s - span.seconds) * _MS,
            span.seconds / wanted,
            folded(raw, wanted, _FOLDS[metric]),
        )

    def periods(self, since_ms: int) -> list[StatePeriod]:
        """Return the periods that end after `since_ms` (Unix milliseconds), the oldest first."""
        every = list(self._periods)
        later = [at for at, each in enumerate(every) if each.since_ms > since_ms]
        first = max(0, (later[0] if later else len(every)) - 1)
        return every[first:]

    def _add_state(self, view: InstanceView, now_ms: int) -> None:
        known = self._periods[-1] if self._periods else None
        silent = known is not None and now_ms - self._last_ms > LONGEST_GAP_MS
        if silent:
            self._periods.append(StatePeriod(self._last_ms, "", "", "", "", exact=True))
        state = present_state(view)
        if not silent and known is not None and (known.state, known.code) == (state, view.code):
            return
        exact = known is not None and not silent
        self._periods.append(StatePeriod(now_ms, state, view.code, view.reason, view.relay, exact))

    def _add_rate(self, view: InstanceView, now_ms: int) -> float | None:
        now = Reading(view.updated_ms, view.published_rows, view.relay)
        if self._reading == now and view.relay_alive:
            return self.facts.rate if self.facts else None
        rate = rows_per_second(self._reading, now) if view.relay_alive else None
        self._reading = now
        self._put("rows", now_ms, rate)
        return rate

    def _put(self, metric: Metric, now_ms: int, value: float | None) -> None:
        for ring in self._rings[metric].values():
            ring.put(now_ms / _MS, value)


def _since(before_ms: int | None, holds: bool, now_ms: int) -> int | None:
    if not holds:
        return None
    return now_ms if before_ms is None else before_ms


def _new_letters(before: Facts | None, view: InstanceView) -> int:
    """Return how many dead letters came; a counter that fell is one that started again."""
    if before is None or before.view.relay != view.relay:
        return view.dead_letters
    known = before.view.dead_letters
    return view.dead_letters - known if view.dead_letters >= known else view.dead_letters
