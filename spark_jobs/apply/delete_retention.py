"""Stores the time before which copies may have forgotten deleted keys, in a Delta table of one row
below the job's root.
"""

from typing import Final

import pyspark.sql.functions as sf
from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from spark_jobs.sinks.local_lock import alone

_FOLDER: Final = "_guards"


class DeleteWatermark:
    """A stored execute time (ms): the copies may have removed deleted keys, with their order keys,
    if they were deleted before it.

    A change from before this time must be refused: its row may have been deleted later, and the
    copy no longer has the delete that would discard the change.
    """

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._spark = spark
        self._path = f"{root.rstrip('/')}/{_FOLDER}"
        self._before_ms = self._read()

    @property
    def before_ms(self) -> int:
        """The stored execute time (Unix milliseconds); 0: no deleted key was removed yet."""
        return self._before_ms

    def raise_to(self, before_ms: int) -> None:
        """Store the time `before_ms` durably. Call it before deleted keys from before this time are
        removed.

        The stored time never decreases: if another job has stored a greater one, that one stays.
        """
        if before_ms <= self._before_ms:
            return
        news = self._spark.createDataFrame([(before_ms,)], "before_ms bigint").coalesce(1)
        with alone(self._spark, self._path):
            if DeltaTable.isDeltaTable(self._spark, self._path):
                kept = DeltaTable.forPath(self._spark, self._path).alias("kept")
                merge = kept.merge(news.alias("news"), sf.lit(True))
                merge.whenMatchedUpdateAll("news.before_ms > kept.before_ms").execute()
            else:
                news.write.format("delta").mode("errorifexists").save(self._path)
        self._before_ms = self._read()

    def refresh(self) -> None:
        """Read the stored time again, because another job may have raised it."""
        self._before_ms = max(self._before_ms, self._read())

    def _read(self) -> int:
        if not DeltaTable.isDeltaTable(self._spark, self._path):
            return 0
        return int(self._spark.read.format("delta").load(self._path).collect()[0]["before_ms"])
