"""Checks whether a store excludes jobs that write to it at the same time."""

from typing import Final

from pyspark.sql import SparkSession

from spark_jobs.config.job import JobSettings
from spark_jobs.errors import CopiesUnguarded
from spark_jobs.sinks.local_lock import scheme_of

_OF_S3: Final = frozenset({"s3", "s3a", "s3n"})
_OF_ONE_DRIVER: Final = "S3SingleDriverLogStore"


def check_writers(spark: SparkSession, settings: JobSettings) -> None:
    """Raise CopiesUnguarded if two jobs could commit at once and overwrite each other, unless
    the settings promise a single one.
    """
    scheme = scheme_of(spark, settings.copy_root)
    store = spark.conf.get(f"spark.delta.logStore.{scheme}.impl", None) or spark.conf.get(
        "spark.delta.logStore.class", None
    )
    if settings.copy_writers == "several" and loses_commits(scheme, store, settings.sink):
        raise CopiesUnguarded(
            f"{settings.copy_root}: two jobs that write there at the same time may lose rows."
        )


def loses_commits(scheme: str, log_store: str | None, sink: str) -> bool:
    """Return whether a driver can overwrite a file that another driver has just written
    (docs.delta.io/delta-storage, Amazon S3).

    `log_store`: the class that Delta was given for the scheme. One for several drivers keeps
    Delta's commits apart; the turns of Parquet copies are files that go again, which it does not
    follow.
    """
    apart = log_store is not None and not log_store.endswith(_OF_ONE_DRIVER)
    return scheme in _OF_S3 and (sink == "parquet" or not apart)
