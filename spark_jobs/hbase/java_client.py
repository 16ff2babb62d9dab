"""Rows to HBase without Python in their way: Spark's executors write them with HBase's own Java
client.
"""

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
    """Writes batches through the region servers themselves.

    Raises HBaseClientMissing where Spark was not given HBase's client.
    """

    def __init__(self, spark: SparkSession, settings: HBaseSettings) -> None:
        self._spark = spark
        self._settings = settings
        compiled(spark)

    def write(self, changes: DataFrame, names: Mapping[str, bytes]) -> Sequence[tuple[str, int]]:
        """Write changes (table, key, order, deleted, data) with all executors.

        Return table and rows written, call by call.

        `names`: logical table → its HBase name. Raises Java's error, whose text has the full name
        of HBaseUnreachable or HBaseRefused.
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
    """Pass each partition to the task, a Java object, and return its results."""
    rows = changes._jdf.queryExecution().toRdd().toJavaRDD()  # noqa: SLF001 - Spark's own rows, whose texts are the bytes that HBase takes
    return [str(each) for each in rows.mapPartitions(task).collect()]


def client_options(settings: HBaseSettings) -> Mapping[str, str]:
    """Return the settings of HBase's client; the operator's own have priority."""
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
    """Return how long HBase may be unavailable, in milliseconds."""
    return int(1000 * settings.patience_seconds)
