"""Log, metrics, and the relay process's own answers."""

from relay.telemetry.logging import set_up_logging
from relay.telemetry.metrics import InstanceMetrics
from relay.telemetry.status_server import Answers, StatusServer
from relay.telemetry.totals import ShownTotals, Totals

__all__ = ["Answers", "InstanceMetrics", "ShownTotals", "StatusServer", "Totals", "set_up_logging"]
