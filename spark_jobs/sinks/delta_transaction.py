"""Delta's own transaction, spoken to without a statement of SQL between: read a snapshot, write and mark rows, commit."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import time
from typing import Any, Final, TypeAlias

import pyspark.sql.functions as sf
from pyspark.sql import Column, DataFrame, SparkSession

JavaObject: TypeAlias = Any
_DELTA: Final = "4.0.0"
"""The one whose inside this is written for."""
_DELETION_VECTORS: Final = "delta.enableDeletionVectors"
_MORE_THAN_ROWS: Final = ("delta.enableChangeDataFeed", "delta.enableRowTracking")
"""Properties of tables whose commits must tell more than which rows came and went."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What names a batch in a commit: the same pair again is the same batch."""

    writer: str
    number: int


@dataclass(frozen=True, slots=True)
class OpenCopy:
    """A Delta table as it is in one snapshot, and the transaction that may follow it."""

    spark: SparkSession
    log: JavaObject
    transaction: JavaObject
    files: JavaObject

    @classmethod
    def at(cls, spark: SparkSession, path: str) -> "OpenCopy | None":
        """Open the table; None where it has to be merged into by MERGE."""
        jvm: JavaObject = spark._jvm
        if jvm.io.delta.package.VERSION() != _DELTA:
            return None
        log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, path)
        transaction = log.startTransaction()
        properties = transaction.metadata().configuration()
        if not _is_true(properties, _DELETION_VECTORS) or any(_is_true(properties, name) for name in _MORE_THAN_ROWS):
            return None
        return cls(spark, log, transaction, jvm.PythonUtils.toSeq([]))

    @property
    def size_bytes(self) -> int:
        """What its files take."""
        return int(self.transaction.snapshot().sizeInBytes())

    def reading(self, wanted: Column) -> "OpenCopy":
        """Read the rows that meet the condition, from files that may hold such; to the transaction, others have not been read."""
        condition = self.rows().where(wanted)._jdf.queryExecution().analyzed().condition()
        return replace(self, files=self.transaction.filterFiles(self._jvm.PythonUtils.toSeq([condition]), True))

    def rows(self) -> DataFrame:
        """The rows of the files that are read; none at first."""
        nothing = self._jvm.scala.Option.empty()
        return DataFrame(self.log.createDataFrame(self.transaction.snapshot(), self.files, False, nothing), self.spark)

    def has(self, batch: Batch) -> bool:
        """Whether a commit of this batch is there."""
        return bool(self.transaction.txnVersion(batch.writer) >= batch.number)

    def written(self, rows: DataFrame) -> Sequence[JavaObject]:
        """Write rows to new files, which nobody sees before the commit."""
        return _each(self.transaction.writeFiles(rows._jdf))

    def marked(self, places: DataFrame, file: str, row: str) -> Sequence[JavaObject]:
        """Mark rows as gone, which nobody sees before the commit: `file` and `row` name the columns that say where they lie."""
        delta = self._jvm.org.apache.spark.sql.delta
        some = self._jvm.scala.Option.apply
        always = self._jvm.org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral()
        marks = delta.commands.DeletionVectorBitmapGenerator.buildRowIndexSetsForFilesMatchingCondition(
            self.spark._jsparkSession, self.transaction, True, places._jdf, self.files, always,
            some(sf.col(file)._jc), some(sf.col(row)._jc),
        )  # fmt: skip
        rows = delta.commands.DMLWithDeletionVectorsHelper
        names = rows.generateCandidateFileMap(self.log.dataPath(), self.files)
        touched = rows.findFilesWithMatchingRows(self.transaction, names, marks)
        return _each(rows.processUnmodifiedData(self.spark._jsparkSession, touched, self.transaction.snapshot())._1())

    def commit(self, actions: Iterable[JavaObject], batch: Batch | None, figures: Mapping[str, int]) -> None:
        """Let everybody see it, with figures for the table's history, or raise as Delta does where another writer came first."""
        delta, nothing = self._jvm.org.apache.spark.sql.delta, self._jvm.scala.Option.empty()
        seq = self._jvm.PythonUtils.toSeq
        done = list(actions)
        if batch is not None:
            done.insert(0, delta.actions.SetTransaction(batch.writer, batch.number, self._jvm.scala.Option.apply(int(time() * 1000))))
        merge = getattr(delta, "DeltaOperations$Merge")(nothing, nothing, nothing, nothing, seq([]), seq([]), seq([]))
        self.transaction.registerSQLMetrics(self.spark._jsparkSession, self._jvm.PythonUtils.toScalaMap(self._metrics(figures)))
        self.transaction.commitIfNeeded(seq(done), merge, self._jvm.PythonUtils.toScalaMap({}))

    def _metrics(self, figures: Mapping[str, int]) -> JavaObject:
        found = self._jvm.java.util.HashMap()
        for name, count in figures.items():
            metric = self._jvm.org.apache.spark.sql.execution.metric.SQLMetrics.createMetric(self.spark.sparkContext._jsc.sc(), name)
            metric.set(count)
            found.put(name, metric)
        return found

    @property
    def _jvm(self) -> JavaObject:
        return self.spark._jvm


def _is_true(properties: JavaObject, name: str) -> bool:
    found = properties.get(name)
    return bool(found.isDefined() and found.get() == "true")


def _each(seq: JavaObject) -> list[JavaObject]:
    return [seq.apply(number) for number in range(seq.size())]
