"""Stores copies as plain Parquet files, which any program can read. If a batch changes a table, it
writes the whole copy of the table again. Each such version of the copy has a number.

A table has three slots in rotation: `rows/slot=N` holds a whole copy, and `commits/slot=N` one line
with the number of its version. The slot with the greatest version in such a line is the valid copy.
A batch overwrites the slot with the oldest version: first the rows, last the line. Each version is
computed from the previous one, so only one writer may be active; the file `_writer` is its lock.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql.types import DataType

from spark_jobs.config.job import SchemaPolicy
from spark_jobs.sinks.commit_lock import turn
from spark_jobs.sinks.folders import folder_of, table_of
from spark_jobs.sinks.parallel import together
from spark_jobs.sinks.real_tables import with_real_table
from spark_jobs.sinks.schema_evolution import schema_plan
from spark_jobs.sinks.sink import ReducedBatch, TableBatch, Written
from spark_jobs.spark_util.identifiers import quoted
from spark_jobs.spark_util.optional_read import unless_absent
from spark_jobs.transforms import (
    DELETED,
    EXECUTE_TIME,
    KEY,
    ORDER,
    REAL_TABLE,
    WHOLE_ROW_GUARDS,
    own_columns,
    retyped,
)

_SLOTS: Final = 3
_COMMIT: Final = "version bigint, writer string, number bigint"


class ParquetSink:
    """The copies as Parquet files below one folder or URI: `<root>/<database>/<table>/rows/slot=N`.

    Rows have guards and typed columns. A batch writes the tables that it changes completely again,
    so this sink is for large batches or small tables. At most `threads` tables are written at the
    same time. If the source drops a column, the copy keeps the column; it is NULL in rows that
    change afterwards.
    """

    def __init__(
        self,
        spark: SparkSession,
        root: str | Path,
        threads: int = 1,
        policy: SchemaPolicy | None = None,
    ) -> None:
        self._spark = spark
        self._root = str(root).rstrip("/")
        self._threads = threads
        self._policy = policy or SchemaPolicy()

    def write(self, batch: ReducedBatch) -> Mapping[str, Written]:
        """Rewrite every changed table; several tables are written in parallel. Return table →
        counts.
        """
        return together(self._spark, partial(self._in_turn, batch=batch), batch, self._threads)

    def path(self, table: str) -> str:
        """Return the location of the copy of `database.table`."""
        return f"{self._root}/{folder_of(table)}"

    def read(self, table: str) -> DataFrame | None:
        """Return the rows of a table's copy, deleted ones included; None if there is no copy.

        The result can be read until the table has been written twice more.
        """
        commit = self._newest(table)
        return None if commit is None else self._rows(table, commit["version"])

    def tables(self) -> Sequence[str]:
        """Return the logical tables that have a commit."""
        lines = unless_absent(
            lambda: self._spark.read.format("binaryFile").load(f"{self._root}/*/*/commits/*/*.json")
        )
        if lines is None:
            return []
        folders = lines.select(sf.regexp_extract("path", "^(.*)/commits/", 1)).distinct().collect()
        return sorted(table_of(row[0]) for row in folders)

    def forget_deletes(self, before_ms: int, writer: str, /) -> None:
        """Write the tables again without rows that were deleted with an execute time below
        `before_ms`.

        `writer` is the name of the job. If the job is killed during this call, the lock keeps this
        name, and the next job of this name gets the lock.
        """
        old = sf.col(DELETED) & (sf.col(EXECUTE_TIME) < before_ms)
        for table in self.tables():
            with turn(self._spark, self._writer(table), writer):
                commit = self._newest(table)
                rows = self.read(table)
                if commit is not None and rows is not None and not rows.where(old).isEmpty():
                    self._commit(
                        table,
                        rows.where(~old),
                        commit["version"] + 1,
                        commit["writer"],
                        commit["number"],
                    )

    def tidy(self) -> None:
        """Do nothing: each batch writes the whole copy into new files."""

    def _in_turn(self, changes: TableBatch, batch: ReducedBatch) -> Written:
        with turn(self._spark, self._writer(changes.table), batch.writer):
            return self._merge(changes, batch)

    def _merge(self, changes: TableBatch, batch: ReducedBatch) -> Written:
        commit = self._newest(changes.table)
        if commit is None:
            self._commit(changes.table, changes.rows, 1, batch.writer, batch.number)
            return Written(changes.changes.count())
        if _is_repeated(commit, batch):
            return Written(replayed=True)
        present = self._rows(changes.table, commit["version"])
        plan = schema_plan(changes.table, own_columns(present), changes.columns, (), self._policy)
        orders = present.select(
            sf.col(KEY).alias("present_key"), sf.col(ORDER).alias("present_order")
        )
        rows = with_real_table(changes.rows_as(plan.columns), present.columns)
        known = rows.join(orders, sf.col(KEY) == sf.col("present_key"), "left")
        not_older = sf.col("present_order").isNull() | (sf.col(ORDER) >= sf.col("present_order"))
        winners = known.where(not_older).drop("present_key", "present_order")
        winners.persist()
        try:
            kept = with_real_table(_as(present, plan.columns), rows.columns).join(
                winners.select(KEY), KEY, "left_anti"
            )
            self._commit(
                changes.table,
                kept.unionByName(winners),
                commit["version"] + 1,
                batch.writer,
                batch.number,
            )
            return Written(winners.count())
        finally:
            winners.unpersist()

    def _commit(
        self, table: str, rows: DataFrame, version: int, writer: str | None, number: int | None
    ) -> None:
        """Write the rows, then the line that makes them count."""
        rows.write.mode("overwrite").parquet(self._slot(table, "rows", version))
        told = {
            "version": sf.lit(version),
            "writer": sf.lit(writer),
            "number": sf.lit(number).cast("bigint"),
        }
        line = self._spark.range(1, numPartitions=1).select(
            *(value.alias(name) for name, value in told.items())
        )
        line.write.mode("overwrite").json(self._slot(table, "commits", version))

    def _newest(self, table: str) -> Row | None:
        lines = unless_absent(
            lambda: self._spark.read.schema(_COMMIT).json(f"{self.path(table)}/commits")
        )
        return (
            None
            if lines is None
            else max(lines.collect(), key=lambda line: int(line["version"]), default=None)
        )

    def _rows(self, table: str, version: int) -> DataFrame:
        return self._spark.read.parquet(self._slot(table, "rows", version))

    def _writer(self, table: str) -> str:
        return f"{self.path(table)}/_writer"

    def _slot(self, table: str, what: str, version: int) -> str:
        return f"{self.path(table)}/{what}/slot={version % _SLOTS}"


def _is_repeated(commit: Row, batch: ReducedBatch) -> bool:
    """Whether the table's newest commit is of this very batch."""
    return (
        batch.again
        and batch.number is not None
        and (commit["writer"], commit["number"]) == (batch.writer, batch.number)
    )


def _as(present: DataFrame, columns: Mapping[str, DataType]) -> DataFrame:
    """The rows of the copy with the columns that it has from now on."""
    held = own_columns(present)
    values = (_value(name, held.get(name), kind).alias(name) for name, kind in columns.items())
    guards = (*WHOLE_ROW_GUARDS, REAL_TABLE) if REAL_TABLE in present.columns else WHOLE_ROW_GUARDS
    return present.select(*guards, *values)


def _value(name: str, held: DataType | None, kind: DataType) -> Column:
    return sf.lit(None).cast(kind) if held is None else retyped(sf.col(quoted(name)), held, kind)
