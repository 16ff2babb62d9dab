"""Shows an instance's status as gauges."""

import math
from collections.abc import Mapping

from relay.telemetry import metrics


class InstanceGauges:
    """The gauges of one instance that show its status, with their label already bound."""

    def __init__(self, instance: str) -> None:
        self.lag_seconds = metrics.LAG_SECONDS.labels(instance)
        self.buffer_put = metrics.BUFFER_PUT.labels(instance)
        self.buffer_get = metrics.BUFFER_GET.labels(instance)
        self.buffer_ack = metrics.BUFFER_ACK.labels(instance)
        self.buffer_bytes = metrics.BUFFER_BYTES.labels(instance)
        self.passed_over = metrics.PASSED_OVER.labels(instance)
        self.spool_bytes = metrics.SPOOL_BYTES.labels(instance)
        self.spool_age = metrics.SPOOL_AGE.labels(instance)
        self.spool_full = metrics.SPOOL_FULL.labels(instance)
        self.epoch = metrics.EPOCH.labels(instance)
        self.mapping_set = metrics.MAPPING_SET.labels(instance)
        self.mapping_broken = metrics.MAPPING_BROKEN.labels(instance)
        self.position_file = metrics.POSITION_FILE.labels(instance)
        self.position_offset = metrics.POSITION_OFFSET.labels(instance)
        self.execute_time = metrics.EXECUTE_TIME.labels(instance)
        self.execute_time_ms = metrics.EXECUTE_TIME_MS.labels(instance)

    def show_status(self, status: Mapping[str, object]) -> None:
        """Set the gauges that a status has a field for; `status` is InstanceStatus.to_fields().

        A lag that is not known is NaN.
        """
        gauges = {
            "epoch": self.epoch,
            "mapping_set": self.mapping_set,
            "position_offset": self.position_offset,
            "execute_time": self.execute_time_ms,
            "buffer_put": self.buffer_put,
            "buffer_get": self.buffer_get,
            "buffer_ack": self.buffer_ack,
            "buffer_bytes": self.buffer_bytes,
            "passed_over": self.passed_over,
            "spool_bytes": self.spool_bytes,
            "spool_age_seconds": self.spool_age,
        }
        for field, gauge in gauges.items():
            value = status[field]
            if isinstance(value, int | float):
                gauge.set(value)
        executed_ms = status["execute_time"]
        if isinstance(executed_ms, int):
            self.execute_time.set(executed_ms / 1000)
        lag = status["lag_seconds"]
        self.lag_seconds.set(lag if isinstance(lag, int | float) else math.nan)
        self.spool_full.set(1 if status["spool"] == "full" else 0)
        self.mapping_broken.set(1 if status["mapping_problem"] else 0)
