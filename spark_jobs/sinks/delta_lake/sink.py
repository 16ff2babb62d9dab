"""Copies as Delta tables, one for each logical table. A change replaces a row only if its order key
is not smaller than that of the row.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

import pyspark.sql.functions as sf
from delta.tables import DeltaMergeBuilder, DeltaTable
from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.config.job import DeltaSettings, SchemaPolicy
from spark_jobs.sinks.delta_lake.commit import put
from spark_jobs.sinks.delta_lake.numbered_commits import numbered_commits, under_another_writer
from spark_jobs.sinks.delta_lake.renames import rename_columns
from spark_jobs.sinks.delta_lake.row_shapes import RowShapes
from spark_jobs.sinks.delta_lake.schema import carry_out, plan_for, properties_of
from spark_jobs.sinks.delta_lake.small_tables import SmallTables
from spark_jobs.sinks.delta_lake.transaction import Batch, OpenCopy
from spark_jobs.sinks.folders import folder_of, table_of
from spark_jobs.sinks.local_lock import alone
from spark_jobs.sinks.parallel import together
from spark_jobs.sinks.real_tables import with_real_table
from spark_jobs.sinks.sink import ReducedBatch, TableBatch, Written
from spark_jobs.spark_util.optional_read import unless_absent
from spark_jobs.transforms import DELETED, EXECUTE_TIME, GUARDS, KEY, ORDER

_ATTEMPTS: Final = 10
"""Largest number of attempts of a commit that conflicts with another writer (a first copy, a
repair).

Each conflict means that the other one progressed.
"""
_ROWS_OF_A_FILE: Final = 25_000
_HISTORY: Final = "_history"
_THERE_ALREADY: Final = "DELTA_PATH_EXISTS"
_CONFLICT: Final = re.compile(
    r"io\.delta\.exceptions\.|DELTA_(CONCURRENT|METADATA_CHANGED|PROTOCOL_CHANGED)"
)


class DeltaSink:
    """The copies below one folder or URI: `<root>/<database>/<table>`.

    A row has the guards and columns of `TableBatch.rows`. Each commit records its batch, so that a
    repeated batch is detected and skipped. At most `threads` tables are merged at the same time.
    """

    _newest_whole: ClassVar = True
    """Whether a row of the changes replaces the copy's row unchanged: most tables then need no
    MERGE.
    """

    def __init__(
        self,
        spark: SparkSession,
        root: str | Path,
        threads: int = 1,
        policy: SchemaPolicy | None = None,
        made_with: DeltaSettings | None = None,
    ) -> None:
        self._spark = spark
        self._root = str(root).rstrip("/")
        self._threads = threads
        self._policy = policy or SchemaPolicy()
        self._made_with = made_with or DeltaSettings()
        self._touched: set[str] = set()
        self._small = SmallTables(self.path, RowShapes(self._policy), threads)

    def path(self, table: str) -> str:
        """Return the location of the copy of `database.table`."""
        return f"{self._root}/{folder_of(table)}"

    def write(self, batch: ReducedBatch) -> Mapping[str, Written]:
        """Merge the changes of every table. Return table → counts.

        Small tables are written together. Large tables, and small tables that could not be written
        together, are merged one by one; several are merged in parallel.
        """
        self._touched.update(changes.table for changes in batch.tables)
        spark, named = batch.changes.sparkSession, _named(batch)
        with numbered_commits(spark, batch.writer, batch.number):
            done = self._small.write(batch, named) if self._newest_whole else {}
            rest = replace(batch, tables=[each for each in batch.tables if each.table not in done])
            merge = partial(self.merge, batch=named)
            return {**done, **together(spark, merge, rest, self._threads)}

    def merge(self, changes: TableBatch, batch: Batch | None) -> Written:
        """Merge one table's changes in one commit; begin again if another writer committed
        meanwhile.

        `batch` is the identity of the batch, which the commit records; None: the commit records
        none.
        """
        with alone(self._spark, self.path(changes.table)):
            for _ in range(_ATTEMPTS - 1):
                with _others_first():
                    return self._merge(changes, batch)
            return self._merge(changes, batch)

    def rename_columns(
        self, table: str, real_table: str, order: str, names: Mapping[str, str]
    ) -> None:
        """Rename columns in those rows of a real table that are older than the rename, in one
        commit.

        table       logical table
        real_table  the real table whose columns were renamed
        order       order key of the rename; rows with a smaller order key are older
        names       old name in lower case → new name

        A second call with the same order key changes nothing. Raises SchemaChangeRefused if a
        column would get another type and `retyped` is "stop".
        """
        self._touched.add(table)
        rename = partial(
            rename_columns,
            self._spark,
            self.path(table),
            table,
            real_table,
            order,
            names,
            self._policy,
        )
        with alone(self._spark, self.path(table)):
            for _ in range(_ATTEMPTS - 1):
                with _others_first():
                    return rename()
            return rename()

    def read(self, table: str) -> DataFrame | None:
        """Return the rows of a table's copy, deleted ones included; None if there is no copy."""
        path = self.path(table)
        return (
            self._spark.read.format("delta").load(path)
            if DeltaTable.isDeltaTable(self._spark, path)
            else None
        )

    def tables(self) -> Sequence[str]:
        """Return the logical tables whose folder contains a log of Delta."""
        logs = unless_absent(
            lambda: self._spark.read.format("binaryFile").load(
                f"{self._root}/*/*/_delta_log/*.json"
            )
        )
        if logs is None:
            return []
        folders = (
            logs.select(sf.regexp_extract("path", "^(.*)/_delta_log/", 1)).distinct().collect()
        )
        return sorted(table_of(row[0]) for row in folders)

    def forget_deletes(self, before_ms: int, _writer: str, /) -> None:
        """Remove rows that were deleted with an execute time below `before_ms`, table by table."""
        old = sf.col(DELETED) & (sf.col(EXECUTE_TIME) < before_ms)
        for table in self.tables():
            with alone(self._spark, self.path(table)):
                DeltaTable.forPath(self._spark, self.path(table)).delete(old)

    def tidy(self) -> None:
        """Compact small files, and remove files that no reader has needed for a week.

        Tables that were not written since the last call are left out.
        """
        for table in sorted(self._touched):
            copy = DeltaTable.forPath(self._spark, self.path(table))
            with alone(self._spark, self.path(table)):
                copy.optimize().executeCompaction()
            copy.vacuum()
        self._touched.clear()

    def _merge(self, changes: TableBatch, batch: Batch | None) -> Written:
        path, spark = self.path(changes.table), changes.changes.sparkSession
        if not DeltaTable.isDeltaTable(spark, path) and _create(changes, path, self._made_with):
            return Written(changes.changes.count())
        copy = DeltaTable.forPath(spark, path)
        plan = plan_for(copy.toDF(), changes, self._policy)
        if carry_out(spark, path, plan):
            copy = DeltaTable.forPath(spark, path)
        rows = _gathered(
            with_real_table(changes.rows_as(plan.columns), copy.toDF().columns), changes.number
        )
        opened = OpenCopy.at(spark, path) if self._newest_whole else None
        done = None if opened is None else put(opened, rows, changes.number, batch)
        if done is not None:
            return done
        affected = self._statement(copy, rows).execute().collect()
        if not affected and batch is not None and not batch.again:
            with under_another_writer(spark, batch):
                affected = self._statement(copy, rows).execute().collect()
        return (
            Written(int(affected[0]["num_affected_rows"])) if affected else Written(replayed=True)
        )

    def _statement(self, copy: DeltaTable, rows: DataFrame) -> DeltaMergeBuilder:
        """Return the statement of the rule: insert a missing key; update a row with a smaller or
        equal order.

        Otherwise discard.
        """
        merge = merging(copy, rows, f"copy.{KEY} = change.{KEY}")
        return merge.whenMatchedUpdateAll(
            f"change.{ORDER} >= copy.{ORDER}"
        ).whenNotMatchedInsertAll()


class DeltaHistory(DeltaSink):
    """Stores every version of every row below `<root>/_history`: one row for each key and order
    key, deletes included.
    """

    _newest_whole = False

    def __init__(
        self,
        spark: SparkSession,
        root: str | Path,
        threads: int = 1,
        policy: SchemaPolicy | None = None,
        made_with: DeltaSettings | None = None,
    ) -> None:
        super().__init__(spark, f"{str(root).rstrip('/')}/{_HISTORY}", threads, policy, made_with)

    def _statement(self, copy: DeltaTable, rows: DataFrame) -> DeltaMergeBuilder:
        """Return the statement: an existing version is unchanged.

        The oldest time of the batch skips all older files.
        """
        oldest = rows.agg(sf.min(EXECUTE_TIME)).collect()[0][0] or 0
        same = (
            f"copy.{EXECUTE_TIME} >= {oldest} AND copy.{KEY} = change.{KEY} AND copy.{ORDER} = "
            f"change.{ORDER}"
        )
        return merging(copy, rows, same).whenNotMatchedInsertAll()


def merging(copy: DeltaTable, rows: DataFrame, same: str) -> DeltaMergeBuilder:
    """Return an unfinished MERGE of `rows` into a copy with the same columns. `same` is the
    condition on which two rows are the same; the caller adds the actions.

    Schema evolution is enabled, because Delta otherwise cannot read names with dots and backticks.
    It adds no columns: both sides have the same ones.
    """
    return copy.alias("copy").merge(rows.alias("change"), same).withSchemaEvolution()


def live_rows(copy: DataFrame) -> DataFrame:
    """Return the rows of a copy that are not deleted, with only the table's own columns."""
    return copy.where(~sf.col(DELETED)).drop(*GUARDS)


def _gathered(rows: DataFrame, number: int | None) -> DataFrame:
    """Return the rows of a small batch in few partitions: each is a task of every step, and a
    file that later batches read.
    """
    return rows if number is None else rows.coalesce(number // _ROWS_OF_A_FILE + 1)


def _create(changes: TableBatch, path: str, made_with: DeltaSettings) -> bool:
    """Make the copy with its first rows in one commit, without a MERGE.

    False if another writer made it in between.
    """
    writer = _gathered(changes.rows, changes.number).write.format("delta").mode("errorifexists")
    for name, value in properties_of(changes.columns, made_with).items():
        writer = writer.option(name, value)
    try:
        writer.save(path)
    except AnalysisException as exc:
        if exc.getCondition() == _THERE_ALREADY:
            return False
        raise
    return True


@contextmanager
def _others_first() -> Iterator[None]:
    """Pass over a commit that failed because another writer committed first."""
    try:
        yield
    except (PySparkException, Py4JError) as exc:
        if not _CONFLICT.search(str(exc)):
            raise


def _named(batch: ReducedBatch) -> Batch | None:
    """Return the identity of the batch for the commit; None if it has no number."""
    return None if batch.number is None else Batch(batch.writer, batch.number, batch.again)
