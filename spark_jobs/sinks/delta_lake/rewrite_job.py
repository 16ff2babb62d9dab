"""The Spark job that writes new files of many copies: each of its tasks writes the files of some
copies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.sinks.delta_lake.java_classes import SOURCES
from spark_jobs.sinks.delta_lake.transaction import JavaObject
from spark_jobs.spark_util.jvm import PYTHON_UTILS, java_class
from spark_jobs.spark_util.report import print_notice

_TASKS_OF_A_CORE: Final = 2
_PARQUET: Final = "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"
_READING: Final = (
    "spark.sql.session.timeZone",
    "spark.sql.caseSensitive",
    "spark.sql.optimizer.nestedSchemaPruning.enabled",
    "spark.sql.parquet.binaryAsString",
    "spark.sql.parquet.int96AsTimestamp",
    "spark.sql.parquet.inferTimestampNTZ.enabled",
    "spark.sql.legacy.parquet.nanosAsLong",
    "spark.sql.parquet.datetimeRebaseModeInRead",
    "spark.sql.parquet.int96RebaseModeInRead",
)
"""Spark's settings that its reader of Parquet looks for in Hadoop's configuration."""


class CopyRewrite(NamedTuple):
    """The Java objects that describe a copy for the job.

    files  `CopyFiles`: the files of the copy
    shape  `RowShape`: how its rows are made from changes
    """

    files: JavaObject
    shape: JavaObject


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The result of a task for one copy. It takes effect only when the caller commits it.

    written   number of changes that are newer than the copy; the new file contains them
    wins      number of those that replace a row of the copy
    loses     number of changes that are discarded, because the copy has a newer row
    kept      number of the copy's rows that the new file contains unchanged
    replaced  numbers of the files that the new file replaces, separated by commas
    file      name, size in bytes, time in Unix ms and statistics of the new file; empty: none was
              written
    """

    written: int
    wins: int
    loses: int
    kept: int
    replaced: str
    file: Sequence[str]

    @classmethod
    def of(cls, fields: Sequence[str]) -> "Rewritten":
        """Return the result in the fields that the Java class `Rewriter` returns."""
        written, wins, loses, kept, replaced, *file = fields
        return cls(int(written), int(wins), int(loses), int(kept), replaced, file)


def rewritten(
    changes: DataFrame, copies: Mapping[str, CopyRewrite], log: JavaObject
) -> Mapping[str, Rewritten]:
    """Find the changes of many tables that are newer than the copies, and write new files with
    them.

    changes  changes of all tables of a batch, in the columns of `ReducedBatch.changes`
    copies   table → its copy
    log      Delta's log of any of the tables, from which the settings of the file system are read

    Returns table → result. A table whose files could not be read or written is missing.
    """
    spark, tables = changes.sparkSession, list(copies)
    files, shapes = zip(*copies.values(), strict=True)
    task = SOURCES.made(spark, "Rewriter", tables, [*files], [*shapes], _configuration(spark, log))
    tasks = min(len(tables), _TASKS_OF_A_CORE * spark.sparkContext.defaultParallelism)
    mine = changes.where(sf.col("table").isin(tables))
    ordered = mine.repartition(tasks, "table").sortWithinPartitions("table")
    rows = ordered._jdf.queryExecution().toRdd().toJavaRDD()  # noqa: SLF001 - Spark's own rows, which Java reads without copying them
    results = _lines(spark, rows.mapPartitions(task).collect())
    return _successes(tables, results)


def _successes(tables: Sequence[str], results: Sequence[str]) -> Mapping[str, Rewritten]:
    """Return the results of the tables that were written; print why the others were not."""
    found: dict[str, Rewritten] = {}
    for number, failure, *fields in (each.split("\t") for each in results):
        table = tables[int(number)]
        if failure:
            print_notice(
                f"{table} is written alone, because it could not be written together: {failure}"
            )
        else:
            found[table] = Rewritten.of(fields)
    return found


def _lines(spark: SparkSession, texts: JavaObject) -> Sequence[str]:
    """Return a Java list of texts without line breaks, in one call."""
    joined = str(java_class(spark, "java.lang.String").join("\n", texts))
    return [*filter(None, joined.split("\n"))]


def _configuration(spark: SparkSession, log: JavaObject) -> JavaObject:
    """Return Hadoop's configuration, with what Spark's reader and writer of Parquet need."""
    job = java_class(spark, "org.apache.hadoop.mapreduce.Job").getInstance(log.newDeltaHadoopConf())
    nothing = java_class(spark, PYTHON_UTILS).toScalaMap({})
    columns = java_class(spark, "org.apache.spark.sql.types.StructType")()
    java_class(spark, _PARQUET)().prepareWrite(spark._jsparkSession, job, nothing, columns)  # noqa: SLF001
    configuration = job.getConfiguration()
    for name in _READING:
        configuration.set(name, spark.conf.get(name))
    return configuration
