"""One Delta table per logical table, kept exact by MERGE under the order guard."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pyspark.sql.functions as sf
from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.transforms import DELETED, GUARDS, KEY, ORDER, as_rows, columns_of_copy

_QUARANTINE: Final = "_quarantine"
_QUARANTINE_PLACE: Final = ("topic", "partition", "offset", "timestamp")
_PROPERTIES: Final = {
    # Names of columns may hold any character in MySQL.
    "delta.columnMapping.mode": "name",
    "delta.enableDeletionVectors": "true",
}


class DeltaCopies:
    """The copies below one folder, or one URI that Spark reaches: `<root>/<database>/<table>`.

    A row holds the columns as text, `_key`, and the guard `_order`; a delete leaves its row with `_deleted`, so that a late older
    change cannot bring it back. Applying the same changes again changes nothing.
    """

    def __init__(self, spark: SparkSession, root: str | Path) -> None:
        self._spark = spark
        self._root = str(root).rstrip("/")

    def path(self, table: str) -> str:
        """Where the copy of `database.table` lies."""
        database, _, name = table.partition(".")
        return f"{self._root}/{_folder(database)}/{_folder(name)}"

    @property
    def quarantine_path(self) -> str:
        """Where the messages lie that could not be applied."""
        return f"{self._root}/{_QUARANTINE}"

    def apply(self, table: str, newest: DataFrame, seen: Iterable[str]) -> int:
        """Merge the newest change of each key of one table into its copy; return how many rows were written.

        `newest` is cached by the caller; `seen` are the names of the columns that its changes, or older ones of the batch, hold.
        """
        path = self.path(table)
        spark = newest.sparkSession
        if not DeltaTable.isDeltaTable(spark, path):
            _create(as_rows(newest, columns_of_copy((), seen)), path)
            return newest.count()
        copy = DeltaTable.forPath(spark, path)
        present = copy.toDF().columns
        columns = columns_of_copy(present, seen)
        merge = copy.alias("copy").merge(as_rows(newest, columns).alias("change"), f"copy.{KEY} = change.{KEY}")
        if not set(columns) <= set(present):
            merge = merge.withSchemaEvolution()
        merge = merge.whenMatchedUpdateAll(f"change.{ORDER} >= copy.{ORDER}").whenNotMatchedInsertAll()
        return int(merge.execute().collect()[0]["num_affected_rows"])

    def quarantine(self, bad: DataFrame) -> None:
        """Keep what could not be applied, with its place and reason; what is there already is not added again."""
        rows = bad.select(*_QUARANTINE_PLACE, "problem", "table", "key", "value")
        if not DeltaTable.isDeltaTable(bad.sparkSession, self.quarantine_path):
            rows.write.format("delta").mode("errorifexists").save(self.quarantine_path)
            return
        same = " AND ".join(f"kept.{name} = bad.{name}" for name in _QUARANTINE_PLACE)
        kept = DeltaTable.forPath(bad.sparkSession, self.quarantine_path)
        kept.alias("kept").merge(rows.alias("bad"), same).whenNotMatchedInsertAll().execute()


def live_rows(copy: DataFrame) -> DataFrame:
    """The rows that the source has: without those that were deleted, without the guards."""
    return copy.where(~sf.col(DELETED)).drop(*GUARDS)


def _create(rows: DataFrame, path: str) -> None:
    """Make the copy with its first rows in one commit; no MERGE is needed where nothing is."""
    writer = rows.write.format("delta").mode("errorifexists")
    for name, value in _PROPERTIES.items():
        writer = writer.option(name, value)
    writer.save(path)


def _folder(name: str) -> str:
    """A name as a folder: what begins with `_` or `.` is hidden from Hadoop, and `/` leads elsewhere."""
    quoted = quote(name, safe=" $-+@")
    return f"%{ord(quoted[0]):02X}{quoted[1:]}" if quoted[:1] in {"_", "."} else quoted
