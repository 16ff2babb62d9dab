"""An instance's status as gauges."""

import math
from collections.abc import Mapping

from relay.telemetry.metrics import InstanceMetrics


def show_status(metrics: InstanceMetrics, status: Mapping[str, object]) -> None:
    """Set the gauges that a status has a field for; `status` is InstanceStatus.to_fields().

    A lag that is not known is NaN.
    """
    metrics.show_state(str(status["state"]))
    gauges = {
        "epoch": metrics.epoch,
        "mapping_set": metrics.mapping_set,
        "position_offset": metrics.position_offset,
        "execute_time": metrics.execute_time_ms,
        "buffer_put": metrics.buffer_put,
        "buffer_get": metrics.buffer_get,
        "buffer_ack": metrics.buffer_ack,
        "buffer_bytes": metrics.buffer_bytes,
        "passed_over": metrics.passed_over,
        "spool_bytes": metrics.spool_bytes,
        "spool_age_seconds": metrics.spool_age,
    }
    for field, gauge in gauges.items():
        value = status[field]
        if isinstance(value, int | float):
            gauge.set(value)
    executed_ms = status["execute_time"]
    if isinstance(executed_ms, int):
        metrics.execute_time.set(executed_ms / 1000)
    lag = status["lag_seconds"]
    metrics.lag_seconds.set(lag if isinstance(lag, int | float) else math.nan)
    metrics.spool_full.set(1 if status["spool"] == "full" else 0)
    metrics.mapping_broken.set(1 if status["mapping_problem"] else 0)
