"""Uses Delta's own transactions directly, without SQL: read a snapshot, write and mark rows,
commit.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import time
from typing import Any, Final, TypeAlias

from pyspark.sql import DataFrame, SparkSession

from spark_jobs.sinks.delta_lake.files import KeyRange, bounds, meets, spanned, within
from spark_jobs.spark_util.jvm import PYTHON_UTILS, java_class, java_seq

JavaObject: TypeAlias = Any
DELTA: Final = "org.apache.spark.sql.delta"
"""Java package of Delta's classes."""
_FILES_LOOKED_AT: Final = 1000
"""So many are held in the driver, with their statistics, some hundred bytes each."""
_DELTA: Final = "4.0.0"
"""The one whose inside this is written for."""
_DELETION_VECTORS: Final = "delta.enableDeletionVectors"
_MORE_THAN_ROWS: Final = ("delta.enableChangeDataFeed", "delta.enableRowTracking")
"""Properties of tables whose commits must contain more than the added and removed rows."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The identity of a batch. A commit records it, so that a repeated batch is recognised.

    writer  name of the job
    number  number of the batch
    again   True: a commit with this writer and number has this batch. False: such a commit has
            another batch, because the stream's checkpoint was reset to an older state since then
    """

    writer: str
    number: int
    again: bool = True


@dataclass(frozen=True, slots=True)
class OpenCopy:
    """One snapshot of a Delta table, and the transaction that may change it.

    log          Delta's log of the table (Java)
    transaction  Delta's transaction (Java)
    files        the files that the transaction reads
    span         smallest and greatest key of these files; None: unknown
    marks_rows   True: rows are removed by deletion vectors. False: the files that contain them are
                 written again
    """

    spark: SparkSession
    log: JavaObject
    transaction: JavaObject
    files: JavaObject
    span: KeyRange | None = None
    marks_rows: bool = False

    @classmethod
    def at(cls, spark: SparkSession, path: str) -> "OpenCopy | None":
        """Open a table; return None if it can only be changed by MERGE."""
        if java_class(spark, "io.delta.package").VERSION() != _DELTA:
            return None
        log = java_class(spark, f"{DELTA}.DeltaLog").forTable(spark._jsparkSession, path)
        transaction = log.startTransaction()
        properties = transaction.metadata().configuration()
        if any(_is_true(properties, name) for name in _MORE_THAN_ROWS):
            return None
        return cls(
            spark,
            log,
            transaction,
            java_seq(spark, []),
            marks_rows=_is_true(properties, _DELETION_VECTORS),
        )

    @property
    def size_bytes(self) -> int:
        """Size of the table's files in bytes."""
        known = self._checksum
        return int(
            self.transaction.snapshot().sizeInBytes() if known is None else known.tableSizeBytes()
        )

    def reading(self, column: str, ranges: Sequence[KeyRange] | None) -> "OpenCopy":
        """Return an OpenCopy that reads only the files that may contain a key in one of `ranges`.

        `column` is the key's column. `ranges` None: all files are read. Delta's transaction counts
        only these files as read: a commit of another writer makes it fail only if that commit
        changes them.
        """
        seq, known = self.seq, self._all_files()
        if known is None:
            return replace(
                self,
                files=self.transaction.filterFiles(seq([self._condition(column, ranges)]), True),
            )
        self.transaction.trackReadPredicates(seq([self._condition(column, None)]), False, True)
        read = (
            replace(self, files=known)
            if ranges is None
            else self._of_ranges(each_of(known), column, ranges)
        )
        self.transaction.trackFilesRead(read.files)
        return read

    def rows(self) -> DataFrame:
        """Return the rows of the files that are read; there are none before `reading` was
        called.
        """
        nothing = self.java("scala.Option").empty()
        return DataFrame(
            self.log.createDataFrame(self.transaction.snapshot(), self.files, False, nothing),
            self.spark,
        )

    def has(self, batch: Batch) -> bool:
        """Return whether the table has a commit of this batch; False if `batch.again` is False.

        A commit with a greater number does not count: it was made before the stream's checkpoint
        was reset to an older state.
        """
        known = self._checksum
        if known is None or known.setTransactions().isEmpty():
            return bool(self.transaction.txnVersion(batch.writer) == batch.number) and batch.again
        # A commit of the same writer in between is a conflict: Delta has to know that it was asked
        # for.
        self.transaction.readTxn().append(batch.writer)
        there = any(
            each.appId() == batch.writer and each.version() == batch.number
            for each in each_of(known.setTransactions().get())
        )
        return there and batch.again

    def written(self, rows: DataFrame) -> Sequence[JavaObject]:
        """Write rows to new files, and return the actions to commit. They take effect with the
        commit.
        """
        return each_of(self.transaction.writeFiles(rows._jdf))

    def commit(
        self, actions: Iterable[JavaObject], batch: Batch | None, figures: Mapping[str, int]
    ) -> None:
        """Commit the actions.

        actions  Delta's actions (Java)
        batch    identity of the batch, which the commit records; None: the commit records none
        figures  counts for the table's history

        Raises Delta's error if another writer committed first.
        """
        option, python, seq = self.java("scala.Option"), self.java(PYTHON_UTILS), self.seq
        done = list(actions)
        if batch is not None:
            now = option.apply(int(time() * 1000))
            done.insert(
                0, self.java(f"{DELTA}.actions.SetTransaction")(batch.writer, batch.number, now)
            )
        merge = self.java(f"{DELTA}.DeltaOperations$Merge")(*[option.empty()] * 4, *[seq([])] * 3)
        self.transaction.registerSQLMetrics(
            self.spark._jsparkSession, python.toScalaMap(self._metrics(figures))
        )
        self.transaction.commitIfNeeded(seq(done), merge, python.toScalaMap({}))

    def _metrics(self, figures: Mapping[str, int]) -> JavaObject:
        found, metrics = (
            self.java("java.util.HashMap")(),
            self.java("org.apache.spark.sql.execution.metric.SQLMetrics"),
        )
        context = self.spark.sparkContext._jsc.sc()
        for name, count in figures.items():
            metric = metrics.createMetric(context, name)
            metric.set(count)
            found.put(name, metric)
        return found

    def java(self, name: str) -> JavaObject:
        """Return the class of Spark's JVM with this full name."""
        return java_class(self.spark, name)

    def seq(self, objects: Iterable[JavaObject]) -> JavaObject:
        """Return the values as a Scala sequence."""
        return java_seq(self.spark, objects)

    @property
    def _checksum(self) -> JavaObject | None:
        """Return the last commit's summary of the whole table.

        Without it Spark reconstructs the log, which takes three jobs each time.
        """
        told = self.transaction.snapshot().checksumOpt()
        return told.get() if told.isDefined() else None

    def _condition(self, column: str, ranges: Sequence[KeyRange] | None) -> JavaObject:
        if ranges is None:
            return self.java("org.apache.spark.sql.catalyst.expressions.Literal").TrueLiteral()
        return (
            self.rows().where(within(column, ranges))._jdf.queryExecution().analyzed().condition()
        )

    def _of_ranges(
        self, files: Sequence[JavaObject], column: str, ranges: Sequence[KeyRange]
    ) -> "OpenCopy":
        field = self.transaction.metadata().schema().apply(column)
        name = self.java(f"{DELTA}.DeltaColumnMapping").getPhysicalName(field)
        told = [(each, bounds(each.stats(), name)) for each in files]
        found = [(each, held) for each, held in told if meets(held, ranges)]
        return replace(
            self,
            files=self.seq(each for each, _ in found),
            span=spanned([held for _, held in found]),
        )

    def _all_files(self) -> JavaObject | None:
        """Return all files with their statistics; None if they are too many to process here."""
        known = self._checksum
        if known is not None and known.allFiles().isDefined():
            return known.allFiles().get()
        if known is None or known.numFiles() > _FILES_LOOKED_AT:
            return None
        return self.seq(self.transaction.snapshot().allFiles().collectAsList())


def _is_true(properties: JavaObject, name: str) -> bool:
    """Return whether a property is on. Delta stores its text as given, and reads it in any case."""
    found = properties.get(name)
    return bool(found.isDefined() and str(found.get()).lower() == "true")


def each_of(seq: JavaObject) -> list[JavaObject]:
    """Return the elements of a Scala sequence."""
    return [seq.apply(number) for number in range(seq.size())]
