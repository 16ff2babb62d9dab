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
    """The execute time (ms) before which guards of deleted keys (their stored order keys) may have
    been removed.

    An older change must be refused, because it could restore a deleted row.
    """

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._spark = spark
        self._path = f"{root.rstrip('/')}/{_FOLDER}"
        self._before_ms = self._read()

    @property
    def before_ms(self) -> int:
        """The time (Unix milliseconds) before which the order keys of deletes may have been
        removed; 0: none were removed.
        """
        return self._before_ms

    def raise_to(self, before_ms: int) -> None:
        """Store the time durably. Call it before order keys of older deletes are removed.

        It never decreases, because another job may have stored a greater one.
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
