"""Log, metrics, and the relay process's own answers."""

from relay.telemetry.logging import set_up_logging
from relay.telemetry.metrics import InstanceMetrics
from relay.telemetry.status_server import Answers, StatusServer

__all__ = ["Answers", "InstanceMetrics", "StatusServer", "set_up_logging"]
