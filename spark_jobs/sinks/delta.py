"""One Delta table per logical table, kept exact by MERGE under the order guard."""

from pathlib import Path
from typing import Final

import pyspark.sql.functions as sf
from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession

GUARDS: Final = ("_key", "_order", "_execute_time", "_execute_position", "_deleted")
_QUARANTINE: Final = "_quarantine"
_PROPERTIES: Final = {
    # Names of columns may hold any character in MySQL.
    "delta.columnMapping.mode": "name",
    "delta.enableDeletionVectors": "true",
}


class DeltaCopies:
    """The copies below one folder: `<root>/<database>/<table>`.

    A row holds the columns as text, `_key`, and the guard `_order`; a delete leaves its row with `_deleted`, so that a late older
    change cannot bring it back. Applying the same changes again changes nothing.
    """

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self._spark = spark
        self._root = root

    def path(self, table: str) -> str:
        """Where the copy of `database.table` lies."""
        database, _, name = table.partition(".")
        return str(self._root / database / name)

    def apply(self, newest: DataFrame) -> None:
        """Merge the newest change of each key into the tables' copies; `newest` is cached by the caller."""
        for row in newest.select("table").distinct().collect():
            self._merge(row["table"], newest.where(sf.col("table") == row["table"]))

    def quarantine(self, bad: DataFrame) -> None:
        """Keep what could not be applied, with its place and reason."""
        bad.select("topic", "partition", "offset", "problem", "table", "key", "value").write.format("delta").mode("append").save(
            str(self._root / _QUARANTINE)
        )

    def _merge(self, table: str, changes: DataFrame) -> None:
        path = self.path(table)
        rows = _as_columns(changes)
        if not DeltaTable.isDeltaTable(self._spark, path):
            writer = rows.limit(0).write.format("delta").mode("ignore")
            for name, value in _PROPERTIES.items():
                writer = writer.option(name, value)
            writer.save(path)
        (
            DeltaTable.forPath(self._spark, path)
            .alias("copy")
            .merge(rows.alias("change"), "copy._key = change._key")
            .withSchemaEvolution()
            .whenMatchedUpdateAll("change._order >= copy._order")
            .whenNotMatchedInsertAll()
            .execute()
        )


def live_rows(copy: DataFrame) -> DataFrame:
    """The rows that the source has: without those that were deleted, without the guards."""
    return copy.where(~sf.col("_deleted")).drop(*GUARDS)


def _as_columns(changes: DataFrame) -> DataFrame:
    """The `data` map as columns, those of all changes together."""
    names = [row["name"] for row in changes.select(sf.explode(sf.map_keys("data")).alias("name")).distinct().collect()]
    guards = (
        sf.col("key").alias("_key"),
        sf.col("order").alias("_order"),
        sf.col("execute_time").alias("_execute_time"),
        sf.col("execute_position").alias("_execute_position"),
        sf.col("deleted").alias("_deleted"),
    )
    return changes.select(*guards, *(sf.col("data").getItem(name).alias(name) for name in sorted(names)))
