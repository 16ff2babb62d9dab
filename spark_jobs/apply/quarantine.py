"""Stores messages that could not be applied: a Delta table of the job, for any sink."""

from typing import Final

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.sinks.local_lock import alone

_FOLDER: Final = "_quarantine"
_PLACE: Final = ("topic", "partition", "offset", "timestamp", "row")


class Quarantine:
    """Stores each unusable message once, with its topic, partition, offset and the reason, below
    `root`.
    """

    def __init__(self, root: str) -> None:
        self.path: Final = f"{root.rstrip('/')}/{_FOLDER}"

    def add(self, changes: DataFrame) -> None:
        """Store those of `changes` that have a problem. A change that is already stored is not
        added again.
        """
        rows = changes.select(*_PLACE, "problem", "table", "key", "value")
        spark = changes.sparkSession
        with alone(spark, self.path):
            if not DeltaTable.isDeltaTable(spark, self.path):
                rows.write.format("delta").mode("errorifexists").save(self.path)
                return
            same = " AND ".join(f"kept.{name} <=> bad.{name}" for name in _PLACE)
            kept = DeltaTable.forPath(spark, self.path).alias("kept").merge(rows.alias("bad"), same)
            kept.withSchemaEvolution().whenNotMatchedInsertAll().execute()

    def read(self, spark: SparkSession) -> DataFrame:
        """Return all quarantined messages."""
        return spark.read.format("delta").load(self.path)
