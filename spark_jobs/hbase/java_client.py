"""Rows to HBase without Python in their way: Spark's executors write them with HBase's own Java client."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession

from spark_jobs.hbase.java_classes import WRITER, loader_of
from spark_jobs.hbase.settings import HBaseSettings

_CALLS_UNDER_WAY: Final = {"version": 2, "check_and_mutate": 4}  # of one task: one is filled while others are answered
_LONGEST_CALL_MS: Final = 60_000  # HBase's own default for one try


class JavaClient:
    """Writes batches through the region servers themselves. Raises HBaseClientMissing where Spark was not given HBase's client."""

    def __init__(self, spark: SparkSession, settings: HBaseSettings) -> None:
        self._spark = spark
        self._settings = settings
        self._writer = loader_of(spark).loadClass(WRITER)

    def write(self, changes: DataFrame, names: Mapping[str, bytes]) -> Sequence[tuple[str, int]]:
        """Write changes (table, key, order, deleted, data) with all executors; return table and rows written, call by call.

        `names`: logical table → its HBase name. Raises what says HBaseUnreachable or HBaseRefused by its full name, in Java's words.
        """
        rows = changes._jdf.queryExecution().toRdd().toJavaRDD()  # noqa: SLF001 - Spark's own rows, whose texts are bytes as HBase wants them
        answers = (str(each).partition(" ") for each in rows.mapPartitions(self._task(names)).collect())
        return [(table, int(written)) for written, _, table in answers]

    def _task(self, names: Mapping[str, bytes]) -> Any:
        """What each task does, as an object of Java."""
        settings, patience_ms = self._settings, int(1000 * self._settings.patience_seconds)
        gateway: Any = self._spark.sparkContext._gateway  # noqa: SLF001 - PySpark has no other way to Java's classes
        java = gateway.jvm
        arguments = (
            java.java.util.HashMap({table: name.decode() for table, name in names.items()}),
            java.java.util.HashMap(_options(settings, patience_ms)),
            settings.guard == "check_and_mutate",
            settings.salt_buckets,
            settings.rows_per_call,
            _CALLS_UNDER_WAY[settings.guard],
            patience_ms,
        )
        array = gateway.new_array(java.java.lang.Object, len(arguments))
        for place, argument in enumerate(arguments):
            array[place] = argument
        return self._writer.getConstructors()[0].newInstance(array)


def _options(settings: HBaseSettings, patience_ms: int) -> dict[str, str]:
    """What HBase's client is told; what the operator says wins."""
    return {
        "hbase.zookeeper.quorum": ",".join(settings.quorum),
        "hbase.rpc.timeout": str(min(patience_ms, _LONGEST_CALL_MS)),
        "hbase.client.operation.timeout": str(patience_ms),
        "hbase.client.meta.operation.timeout": str(patience_ms),
        "hbase.client.retries.number": "1000",  # time ends it, not a number
        **settings.client_options,
    }
