"""How far back deleted keys are remembered, where that has an end: a Delta table of one row below
the job's root.
"""

from typing import Final

from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from spark_jobs.sinks.local_lock import alone

_FOLDER: Final = "_guards"


class DeleteWatermark:
    """The execute time (ms) below which guards of deleted keys may be gone, so that no older change
    may be applied.
    """

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._spark = spark
        self._path = f"{root.rstrip('/')}/{_FOLDER}"
        self._before_ms = self._read()

    @property
    def before_ms(self) -> int:
        """Guards of deletes older than this were removed (Unix milliseconds); 0: none were."""
        return self._before_ms

    def raise_to(self, before_ms: int) -> None:
        """Store the time permanently, before any guard is removed. It never decreases."""
        if before_ms <= self._before_ms:
            return
        with alone(self._spark, self._path):
            self._spark.createDataFrame([(before_ms,)], "before_ms bigint").write.format(
                "delta"
            ).mode("overwrite").save(self._path)
        self._before_ms = before_ms

    def _read(self) -> int:
        if not DeltaTable.isDeltaTable(self._spark, self._path):
            return 0
        return int(self._spark.read.format("delta").load(self._path).collect()[0]["before_ms"])
