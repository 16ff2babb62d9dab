"""Observes all instances (the watch): their states now and during the last week, and which of them
need an operator.
"""

from api.services.watch.charts import Charts
from api.services.watch.facts import Facts, StatePeriod
from api.services.watch.history import Metric, Range
from api.services.watch.moment import Moment
from api.services.watch.selection import SORTS, Grouping, Selection, Sort, grouped, selected
from api.services.watch.state_changes import ChangeLog, StateChange
from api.services.watch.views import needs_view, series_view, sparks_view, states_view
from api.services.watch.watch import Watch

__all__ = [
    "SORTS",
    "ChangeLog",
    "Charts",
    "Facts",
    "Grouping",
    "Metric",
    "Moment",
    "Range",
    "Selection",
    "Sort",
    "StateChange",
    "StatePeriod",
    "Watch",
    "grouped",
    "needs_view",
    "selected",
    "series_view",
    "sparks_view",
    "states_view",
]
