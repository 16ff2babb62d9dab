"""Log, metrics, and the relay process's own answers."""

from relay.telemetry.known_hosts import KnownHosts
from relay.telemetry.logging import set_up_logging
from relay.telemetry.metrics import InstanceMetrics
from relay.telemetry.status_server import Answers, StatusServer
from relay.telemetry.totals import ShownTotals, Totals
from relay.telemetry.visible import visible

__all__ = [
    "Answers",
    "InstanceMetrics",
    "KnownHosts",
    "ShownTotals",
    "StatusServer",
    "Totals",
    "set_up_logging",
    "visible",
]
