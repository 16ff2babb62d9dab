"""Compares one batch with changes of many Delta tables, merged by several threads, with the same
changes of one table.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from time import monotonic
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame, SparkSession

from deploy.embedded.fetching.progress import say
from spark_jobs.apply.per_table import TableContents, reduced_batch
from spark_jobs.sinks import Sink, open_sink
from spark_jobs.transforms import TableSchema
from tools.bench.measuring.report import Report
from tools.bench.spark.changes import TIME_MS, TYPES
from tools.bench.spark.delta import as_changes
from tools.bench.spark.job_run import job, started

_CHANGES_PER_TABLE: Final = 100
_ROUNDS: Final = 2


@dataclass(frozen=True, slots=True)
class ManyTables:
    """Seconds of one batch with changes of `tables` tables, merged by `threads` threads."""

    tables: int
    threads: int
    seconds: float


def measure_tables(tables: int, threads: Sequence[int]) -> Iterator[ManyTables]:
    """Yield the best of some rounds, each an update of every row; first for one table with all
    changes.
    """
    for count, each in ((1, 1), *((tables, number) for number in threads)):
        with tempfile.TemporaryDirectory(
            prefix="roma-bench-", ignore_cleanup_errors=True
        ) as folder:
            settings = job("127.0.0.1:1", "none", folder, 1, merge_threads=each)
            spark = started(settings)
            sink = open_sink(spark, settings)
            costs = [
                _write(spark, sink, count, tables * _CHANGES_PER_TABLE, number)
                for number in range(_ROUNDS + 1)
            ]
            found = ManyTables(count, each, min(costs[1:]))
            say(f"{count} tables, {each} at a time: {found.seconds:.1f} s")
            yield found


def tables_report(tables: int, found: Sequence[ManyTables]) -> Report:
    """Return a table of the seconds of a batch, and of each of its tables."""
    rows = [
        (
            str(each.tables),
            str(each.threads),
            f"{each.seconds:.1f}",
            f"{1e3 * each.seconds / each.tables:.0f}",
        )
        for each in found
    ]
    notes = [
        f"{tables * _CHANGES_PER_TABLE:,} updates in one batch, spread evenly over its tables.",
        f"Each figure is the best of {_ROUNDS} rounds, after a round that made the tables.",
        (
            "The time is from the reduced batch to the commit of its last table, without reading, "
            "parsing and reducing."
        ),
    ]
    return Report(
        "One batch for many Delta tables",
        ("tables", "at a time", "seconds", "ms a table"),
        rows,
        notes,
        [*map(asdict, found)],
    )


def _write(spark: SparkSession, sink: Sink, tables: int, changes: int, number: int) -> float:
    """Write a change of every row, and return the seconds that the sink took."""
    keys = spark.range(changes).withColumn("order", sf.col("id") + number * changes)
    batch = _spread(as_changes(keys), tables).sortWithinPartitions("table").persist()
    batch.count()
    newest = f"{TIME_MS:013d}.{(number + 1) * changes:019d}"
    contents = {
        _name(table): TableContents([TableSchema.of(TYPES)], ("id",), newest, changes // tables)
        for table in range(tables)
    }
    began = monotonic()
    sink.write(reduced_batch(batch, contents, "bench", None))
    took = monotonic() - began
    batch.unpersist()
    return took


def _spread(changes: DataFrame, tables: int) -> DataFrame:
    """Return the changes, each in one of so many tables by its id."""
    return changes.withColumn(
        "table", sf.format_string(_name("%04d"), sf.col("data")["id"].cast("bigint") % tables)
    )


def _name(table: int | str) -> str:
    return f"shop.t{table:04d}" if isinstance(table, int) else f"shop.t{table}"
