"""Converts what the admin has observed to the form in which endpoints return it."""

from itertools import zip_longest

from api.models.watch.needs import NeedsView
from api.models.watch.series import SeriesView, SparksView, SparkView, StatesView, StateView
from api.services.watch.charts import Charts
from api.services.watch.facts import StatePeriod
from api.services.watch.history import SPANS, Metric, Range
from api.services.watch.watch import Watch

_MS = 1000


def needs_view(watch: Watch) -> NeedsView:
    """Return the problems that need an operator.

    Raises StoreUnreachable if the admin has not read ZooKeeper yet.
    """
    moment = watch.moment()
    return NeedsView(read_ms=moment.read_ms, old=moment.error is not None, needs=list(moment.needs))


def series_view(charts: Charts, name: str, metric: Metric, span: Range) -> SeriesView:
    """Return the view of one metric of an instance. Raises NodeMissing."""
    series, problem = charts.series(name, metric, span)
    return SeriesView(
        instance=name,
        metric=metric,
        range=span,
        from_ms=series.from_ms,
        step_seconds=series.step_s,
        values=series.values,
        problem=problem,
    )


def sparks_view(charts: Charts) -> SparksView:
    """Return rows per second and lag of every instance during the last hour."""
    charted, lags = charts.sparks("rows"), charts.sparks("lag")
    rows = charted.series
    first = next(iter(rows.values()), None)
    return SparksView(
        from_ms=first.from_ms if first else 0,
        step_seconds=first.step_s if first else 0,
        instances={
            name: SparkView(rows=each.values, lag=lags.series[name].values)
            for name, each in rows.items()
            if name in lags.series
        },
        problem=charted.problem or lags.problem,
    )


def states_view(watch: Watch, name: str, span: Range) -> StatesView:
    """Return the states of an instance within a range of time, the oldest first. Raises
    NodeMissing.
    """
    read_ms = watch.moment().read_ms
    from_ms = read_ms - SPANS[span].seconds * _MS
    periods = watch.periods(name, from_ms)
    pairs = zip_longest(periods, [each.since_ms for each in periods[1:]])
    return StatesView(
        instance=name,
        from_ms=from_ms,
        read_ms=read_ms,
        states=[_state(period, until_ms) for period, until_ms in pairs],
    )


def _state(period: StatePeriod, until_ms: int | None) -> StateView:
    return StateView(**period._asdict(), until_ms=until_ms)
