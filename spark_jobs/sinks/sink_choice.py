"""Chooses the sink and its location from the configuration."""

from pyspark.sql import SparkSession

from spark_jobs.config.job import JobSettings
from spark_jobs.errors import JobConfigurationError
from spark_jobs.sinks.delta_lake.by_column import DeltaByColumn
from spark_jobs.sinks.delta_lake.sink import DeltaSink
from spark_jobs.sinks.hadoop import hadoop_configuration, hadoop_path
from spark_jobs.sinks.hbase import HBaseSink
from spark_jobs.sinks.jdbc import JdbcSink
from spark_jobs.sinks.parquet import ParquetSink
from spark_jobs.sinks.sink import Sink


def open_sink(spark: SparkSession, settings: JobSettings) -> Sink:
    """Return the sink for this job's copies.

    Raises JobConfigurationError if the section of the configured sink is missing.
    """
    match settings.sink:
        case "delta":
            sink = DeltaByColumn if settings.row_images == "merge" else DeltaSink
            return sink(
                spark,
                settings.copy_root,
                settings.merge_threads,
                settings.schema_changes,
                settings.delta,
            )
        case "hbase" if settings.hbase is not None:
            return HBaseSink(spark, settings.hbase, settings.value_style)
        case "jdbc" if settings.mirror is not None:
            return JdbcSink(spark, settings.mirror, settings.merge_threads, settings.schema_changes)
        case "parquet":
            return ParquetSink(
                spark, settings.copy_root, settings.merge_threads, settings.schema_changes
            )
        case other:
            raise JobConfigurationError(
                f"sink = '{other}' needs a section with its settings, which is missing."
            )


def place_of_copies(spark: SparkSession, settings: JobSettings) -> str:
    """Return a text that identifies the location of the copies.

    It does not contain settings that may change while the copies stay the same, such as the
    addresses of HBase's gateways.
    """
    if settings.hbase is not None:
        return f"HBase, namespace {settings.hbase.namespace}"
    if settings.mirror is not None:
        return (
            f"the mirror {settings.mirror.host}:{settings.mirror.port}, prefix "
            f"'{settings.mirror.prefix}'"
        )
    root = hadoop_path(spark, settings.copy_root)
    whole = root.getFileSystem(hadoop_configuration(spark)).makeQualified(root)
    return f"{settings.sink} below {whole.toString()}"
