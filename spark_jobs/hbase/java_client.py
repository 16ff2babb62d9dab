"""Writes rows to HBase from Spark's executors with HBase's own Java client, without Python."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession

from spark_jobs.config.hbase import HBaseSettings
from spark_jobs.hbase.java_classes import compiled, made

_CALLS_UNDER_WAY: Final = {
    "version": 2,
    "check_and_mutate": 4,
}  # of one task: one is filled while others are answered
_LONGEST_CALL_MS: Final = 60_000  # HBase's own default for one try


class JavaClient:
    """Writes batches directly to HBase's region servers.

    Raises HBaseClientMissing if Spark does not have HBase's client.
    """

    def __init__(self, spark: SparkSession, settings: HBaseSettings) -> None:
        self._spark = spark
        self._settings = settings
        compiled(spark)

    def write(self, changes: DataFrame, names: Mapping[str, bytes]) -> Sequence[tuple[str, int]]:
        """Write changes with all executors. Return (table, rows written) for each call.

        changes  columns table, key, order, deleted, data
        names    logical table → its HBase name

        Raises Java's error, whose text contains the full name of HBaseUnreachable or HBaseRefused.
        """
        settings = self._settings
        task = made(
            self._spark,
            "Writer",
            {table: name.decode() for table, name in names.items()},
            client_options(settings),
            settings.guard == "check_and_mutate",
            settings.salt_buckets,
            settings.rows_per_call,
            _CALLS_UNDER_WAY[settings.guard],
            patience_ms(settings),
        )
        answers = (each.partition(" ") for each in run(changes, task))
        return [(table, int(written)) for written, _, table in answers]


def run(changes: DataFrame, task: Any) -> Sequence[str]:
    """Pass each partition of `changes` to a Java task object, and return the task's results."""
    rows = changes._jdf.queryExecution().toRdd().toJavaRDD()  # noqa: SLF001 - Spark's own rows, whose texts are the bytes that HBase takes
    return [str(each) for each in rows.mapPartitions(task).collect()]


def client_options(settings: HBaseSettings) -> Mapping[str, str]:
    """Return the options of HBase's Java client. Those in `settings.client_options` have
    priority.
    """
    patience = patience_ms(settings)
    return {
        "hbase.zookeeper.quorum": ",".join(settings.quorum),
        "hbase.rpc.timeout": str(min(patience, _LONGEST_CALL_MS)),
        "hbase.client.operation.timeout": str(patience),
        "hbase.client.meta.operation.timeout": str(patience),
        "hbase.client.retries.number": "1000",  # time ends it, not a number
        **settings.client_options,
    }


def patience_ms(settings: HBaseSettings) -> int:
    """Return the milliseconds for which HBase may be unavailable."""
    return int(1000 * settings.patience_seconds)
