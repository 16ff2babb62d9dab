"""Measures a job from a topic to Delta.

The figures are its messages per second after a warm-up, and the cost of a batch by the number of
its changes and the size of its table.
"""

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import count, product
from time import monotonic
from typing import Final
from unittest.mock import patch

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame, SparkSession

from deploy.embedded import Kafka
from deploy.embedded.fetching.progress import say
from spark_jobs.apply.per_table import TableContents, reduced_batch
from spark_jobs.sinks import Sink, open_sink
from spark_jobs.transforms import TableSchema
from tools.bench.measuring.report import Report
from tools.bench.spark.changes import TABLE, TIME_MS, TYPES, Changes
from tools.bench.spark.job_run import UsageMeter, is_exact, job, run_to_end, started
from tools.bench.spark.run import SparkRun
from tools.bench.spark.topic import fill

_SEED: Final = 7
_WARM: Final = 4
_WARM_MERGES: Final = 1
_ROUNDS: Final = 3
_RECENT_ROWS: Final = 200_000


@dataclass(frozen=True, slots=True)
class BatchCost:
    """The cost of merging one batch into a table.

    rows           rows of the table
    vectors        whether the table has deletion vectors
    keys           which keys the batch changes
    changes        number of changes in the batch
    seconds        seconds of the sink
    merge_seconds  seconds of Delta's own MERGE for the same batch
    """

    rows: int
    vectors: bool
    keys: str
    changes: int
    seconds: float
    merge_seconds: float


def measure_rate(
    messages: int, batch: int, warm: int, vectors: Sequence[bool]
) -> Iterator[SparkRun]:
    """Yield a run whose first `warm` batches do not count, with and without deletion vectors.

    All runs read one topic in one JVM.
    """
    changes = Changes()
    with Kafka() as kafka:
        say(f"{messages:,} messages")
        fill(kafka.bootstrap, "orders", changes.draw(messages))
        for marks in vectors:
            yield _rate(kafka.bootstrap, changes, batch, warm, vectors=marks)


def _rate(bootstrap: str, changes: Changes, batch: int, warm: int, *, vectors: bool) -> SparkRun:
    with tempfile.TemporaryDirectory(prefix="roma-bench-", ignore_cleanup_errors=True) as folder:
        delta = {"deletion_vectors": vectors}
        settings = job(bootstrap, "orders", folder, batch, delta=delta)
        spark = started(settings)
        with UsageMeter({"job": os.getpid()}) as watched:
            batches = run_to_end(settings)
        exact = is_exact(open_sink(spark, settings).read(TABLE), changes.newest)
        name = f"dedup_stream, Delta, {'with' if vectors else 'without'} deletion vectors"
        return SparkRun.of_job(name, batches, warm, watched, exact=exact)


def measure_growth(
    sizes: Sequence[int], batches: Sequence[int], vectors: Sequence[bool]
) -> Iterator[BatchCost]:
    """Yield the cost of each batch for each table size, with and without deletion vectors.

    Each cost is the best of some rounds. The changes are updates: of recent keys, and of random
    keys.
    """
    for rows, marks in product(sizes, vectors):
        with tempfile.TemporaryDirectory(
            prefix="roma-bench-", ignore_cleanup_errors=True
        ) as folder:
            delta = {"deletion_vectors": marks}
            settings = job("127.0.0.1:1", "none", folder, 1, delta=delta)
            spark = started(settings)
            sink = open_sink(spark, settings)
            _write(spark, sink, spark.range(rows).withColumn("order", sf.col("id")), rows)
            yield from _costs(spark, sink, rows, batches, vectors=marks)


def _costs(
    spark: SparkSession, sink: Sink, rows: int, batches: Sequence[int], *, vectors: bool
) -> Iterator[BatchCost]:
    order = count(rows, rows)
    for (keys, among), changes in product((("recent", _RECENT_ROWS), ("at random", rows)), batches):
        ours = [
            _update(spark, sink, rows, among, changes, next(order)) for _ in range(_WARM + _ROUNDS)
        ]
        with patch("spark_jobs.sinks.delta_lake.sink.put", return_value=None):
            merges = [
                _update(spark, sink, rows, among, changes, next(order))
                for _ in range(_WARM_MERGES + _ROUNDS)
            ]
        yield BatchCost(rows, vectors, keys, changes, min(ours[_WARM:]), min(merges[_WARM_MERGES:]))


_COLUMNS: Final = (
    "rows in the table",
    "deletion vectors",
    "keys",
    "changes",
    "seconds",
    "µs a change",
    "seconds of a MERGE",
)
_NOTES: Final = (
    (
        f"The changes are updates. Each figure is the best of {_ROUNDS} rounds, after {_WARM} "
        f"rounds that do not count. One batch made the table, in the order of its keys."
    ),
    "MERGE: the same with Delta's own statement, in the same table and session.",
    f"recent: of the {_RECENT_ROWS:,} greatest keys. at random: of all keys of the table.",
    "The time is from the reduced batch to the commit, without reading, parsing and reducing.",
)


def growth_report(costs: Sequence[BatchCost]) -> Report:
    """Return a table of seconds by changes and table size."""
    rows = [
        (
            f"{each.rows:,}",
            "yes" if each.vectors else "no",
            each.keys,
            f"{each.changes:,}",
            f"{each.seconds:.2f}",
            f"{1e6 * each.seconds / each.changes:.1f}",
            f"{each.merge_seconds:.2f}",
        )
        for each in costs
    ]
    measured = [asdict(each) for each in costs]
    return Report("A batch merged into a Delta table", _COLUMNS, rows, _NOTES, measured)


def _update(
    spark: SparkSession, sink: Sink, rows: int, among: int, changes: int, order: int
) -> float:
    """Change keys drawn among the greatest of a table's rows, and return the seconds that the sink
    took.
    """
    drawn = (sf.lit(rows - among) + sf.rand(_SEED + order) * among).cast("bigint")
    changed = spark.range(changes).select(drawn.alias("id")).distinct()
    return _write(spark, sink, changed.withColumn("order", sf.col("id") + order), order + rows)


def _write(spark: SparkSession, sink: Sink, keys: DataFrame, newest: int) -> float:
    """Write changes of these keys (id, order), and return the seconds that the sink took."""
    changes = as_changes(keys).persist()
    number = changes.count()
    contents = {
        TABLE: TableContents(
            [TableSchema.of(TYPES)], ("id",), f"{TIME_MS:013d}.{newest:019d}", number
        )
    }
    began = monotonic()
    sink.write(reduced_batch(changes, contents, "bench", None))
    took = monotonic() - began
    changes.unpersist()
    return took


def as_changes(keys: DataFrame) -> DataFrame:
    """Return rows of id and order in the schema of a reduced batch."""
    columns = {
        "id": sf.col("id").cast("string"),
        "user_id": (sf.col("order") % 1_000_000).cast("string"),
        "sku": sf.format_string("sku-%05d", sf.col("id") % 1000),
        "price": sf.format_string("%d.50", sf.col("order") % 100_000),
        "status": sf.lit("paid"),
        "note": sf.format_string("note for order %d", sf.col("id")),
    }
    return keys.select(
        sf.lit(TABLE).alias("table"),
        sf.format_string(f'["{TABLE}","%d"]', sf.col("id")).alias("key"),
        sf.format_string(f"{TIME_MS:013d}.%019d", sf.col("order")).alias("order"),
        sf.lit(TIME_MS).cast("bigint").alias("execute_time"),
        sf.col("order").alias("execute_position"),
        sf.lit(False).alias("deleted"),
        sf.create_map(
            *(each for name, value in columns.items() for each in (sf.lit(name), value))
        ).alias("data"),
        sf.lit(TYPES).alias("mysql_types"),
    )
