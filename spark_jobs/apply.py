"""One batch of messages → the copies; shared by both jobs."""

from dataclasses import dataclass
from time import monotonic

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame

from spark_jobs.sinks import DeltaCopies
from spark_jobs.transforms import latest_by_key, parse_events


@dataclass(frozen=True, slots=True)
class BatchFigures:
    """What one batch held: changes read, keys written, of which deletes, messages put aside."""

    changes: int
    keys: int
    deletes: int
    quarantined: int
    seconds: float

    def __str__(self) -> str:
        rate = self.changes / self.seconds if self.seconds else 0.0
        return (
            f"{self.changes} changes, {self.keys} keys written ({self.deletes} deletes, {self.changes - self.keys} older ones discarded), "
            f"{self.quarantined} put aside, {self.seconds:.1f} s, {rate:.0f} changes/s"
        )


def apply_batch(records: DataFrame, copies: DeltaCopies) -> BatchFigures:
    """Apply a batch of Kafka records; again, if need be, with the same result."""
    began = monotonic()
    events = parse_events(records).persist()
    newest = latest_by_key(events.where(sf.col("problem").isNull())).persist()
    try:
        quarantined = events.where(sf.col("problem").isNotNull()).count()
        if quarantined:
            copies.quarantine(events.where(sf.col("problem").isNotNull()))
        changes = events.count() - quarantined
        keys, deletes = newest.agg(sf.count("*"), sf.count_if("deleted")).collect()[0]
        if keys:
            copies.apply(newest)
    finally:
        newest.unpersist()
        events.unpersist()
    return BatchFigures(changes, keys, deletes, quarantined, monotonic() - began)
