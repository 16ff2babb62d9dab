"""Writes many rows to HBase together: Spark's executors write files in HBase's format, which HBase
loads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

import pyspark.sql.functions as sf
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.classic.column import Column as ColumnOfJava
from pyspark.sql.classic.column import _to_java_column

from spark_jobs.config.hbase import FilesSettings, HBaseSettings
from spark_jobs.hbase.java_classes import made
from spark_jobs.hbase.java_client import client_options, patience_ms, run

Starts = Mapping[str, Sequence[bytes]]
"""Logical table → the first row keys of its regions, sorted; the first is empty."""
_FILES_OF_A_REGION: Final = (
    4  # HBase soon puts them together, and every reader opens all of them until then
)
_KEPT_MS: Final = (
    24 * 3_600_000
)  # files that a killed job left in the staging folder; no batch takes this long


@dataclass(frozen=True, slots=True)
class _Files:
    """The files of one region, as its task names them."""

    rows: int
    name: str
    table: str

    @classmethod
    def of(cls, answer: str) -> "_Files":
        rows, name, table = answer.split(" ", 2)
        return cls(int(rows), name, table)


class JavaFiles:
    """Writes batches as files in HBase's format.

    It is only for the guard "version": nothing is compared, HBase shows the cells with the greatest
    timestamp.
    """

    def __init__(self, spark: SparkSession, settings: HBaseSettings, files: FilesSettings) -> None:
        self._spark = spark
        self._settings = settings
        self._root = files.staging
        self.from_rows = files.from_rows

    def write(
        self, changes: DataFrame, names: Mapping[str, bytes], starts: Starts
    ) -> Sequence[tuple[str, int]]:
        """Write changes with all executors. Return (table, rows written) for each region.

        changes  columns table, key, order, deleted, data
        names    logical table → its HBase name
        starts   logical table → the first row keys of its regions

        After an error, HBase may have loaded the files of some regions; writing them again changes
        nothing. Raises Java's error, whose text contains the full name of HBaseUnreachable,
        HBaseRefused or HBaseStagingRefused.
        """
        batch = uuid4().hex
        try:
            found = self._written(changes, names, starts, f"{self._root}/{batch}")
            for table, name in names.items():
                self._hand_over(
                    name,
                    f"{self._root}/{batch}",
                    [each.name for each in found if each.table == table],
                )
        finally:
            self._staging().remove(batch)
        return [(each.table, each.rows) for each in found]

    def tidy(self) -> None:
        """Remove files that interrupted jobs left in the staging folder."""
        self._staging().removeOlder(_KEPT_MS)

    def _written(
        self, changes: DataFrame, names: Mapping[str, bytes], starts: Starts, folder: str
    ) -> Sequence[_Files]:
        regions, parts = sum(len(starts[table]) for table in names), changes.rdd.getNumPartitions()
        borders = made(
            self._spark,
            "files.Borders",
            starts,
            pieces_of_a_region(regions, self._settings.writers),
        )
        texts = {table: name.decode() for table, name in names.items()}
        task = made(
            self._spark,
            "files.FileWriter",
            texts,
            client_options(self._settings),
            borders,
            folder,
            patience_ms(self._settings),
        )
        row_keys = made(self._spark, "RowKeys", self._settings.salt_buckets)
        rows = changes.withColumn("row", _column(row_keys, sf.col("key").cast("binary")))
        if parts > _FILES_OF_A_REGION:  # each part would write a file for each region
            rows = rows.repartition(
                borders.parts(), _column(borders, sf.col("table"), sf.col("row"))
            )
        return [
            _Files.of(answer) for answer in run(rows.sortWithinPartitions("table", "row"), task)
        ]

    def _hand_over(self, name: bytes, folder: str, files: Sequence[str]) -> None:
        options, patience = client_options(self._settings), patience_ms(self._settings)
        made(self._spark, "files.FileLoad", name.decode(), options, folder, files, patience).call()

    def _staging(self) -> Any:
        return made(self._spark, "files.Staging", client_options(self._settings), self._root)


def pieces_of_a_region(regions: int, writers: int) -> int:
    """Return the number of files for the rows of one region, so that all writers have work."""
    return -(-writers // regions)


def _column(function: Any, *columns: Column) -> Column:
    """Return the result of a Java function on columns."""
    return ColumnOfJava(function.of(*(_to_java_column(column) for column in columns)))
