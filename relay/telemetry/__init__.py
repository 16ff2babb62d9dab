"""Log, metrics, and the HTTP endpoints of the relay process."""

from relay.telemetry.instance_metrics import InstanceMetrics
from relay.telemetry.known_hosts import KnownHosts
from relay.telemetry.logging import set_up_logging
from relay.telemetry.merged_metrics import merged
from relay.telemetry.status_loop import Reply, StatusLoop
from relay.telemetry.status_server import Answers, StatusServer
from relay.telemetry.table_counts import (
    COPIED,
    OTHER,
    Counted,
    OpenTableCounts,
    TableBudget,
    TableCount,
    TableOperation,
    TableTotals,
)
from relay.telemetry.table_rates import TableRates
from relay.telemetry.terminal_escapes import visible
from relay.telemetry.totals import MOST_TABLES, ShownTotals, Totals

__all__ = [
    "COPIED",
    "MOST_TABLES",
    "OTHER",
    "Answers",
    "Counted",
    "InstanceMetrics",
    "KnownHosts",
    "OpenTableCounts",
    "Reply",
    "ShownTotals",
    "StatusLoop",
    "StatusServer",
    "TableBudget",
    "TableCount",
    "TableOperation",
    "TableRates",
    "TableTotals",
    "Totals",
    "merged",
    "set_up_logging",
    "visible",
]
