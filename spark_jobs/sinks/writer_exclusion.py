"""Checks whether a store prevents two jobs from writing to it at the same time."""

from typing import Final

from pyspark.sql import SparkSession

from spark_jobs.config.job import JobSettings
from spark_jobs.errors import CopiesUnguarded
from spark_jobs.sinks.local_lock import scheme_of

_OF_S3: Final = frozenset({"s3", "s3a", "s3n"})
_OF_ONE_DRIVER: Final = "S3SingleDriverLogStore"


def check_writers(spark: SparkSession, settings: JobSettings) -> None:
    """Raise CopiesUnguarded if two jobs could overwrite each other's commits in the store of the
    copies.

    With `copy_writers = "one"` the operator ensures that there is only one job, and nothing is
    raised.
    """
    scheme = scheme_of(spark, settings.copy_root)
    store = spark.conf.get(f"spark.delta.logStore.{scheme}.impl", None) or spark.conf.get(
        "spark.delta.logStore.class", None
    )
    if settings.copy_writers == "several" and loses_commits(scheme, store, settings.sink):
        raise CopiesUnguarded(
            f"{settings.copy_root}: if two jobs write there at the same time, rows may be lost."
        )


def loses_commits(scheme: str, log_store: str | None, sink: str) -> bool:
    """Return whether one Spark driver can overwrite a file that another driver has just written.

    scheme     scheme of the store's URI
    log_store  class that Delta uses for the scheme; None: Delta's default. A class that is made for
               several drivers protects Delta's commits
    sink       kind of the copies. Parquet copies need lock files, which the jobs delete again; no
               `log_store` protects such files

    Source: docs.delta.io/delta-storage, Amazon S3.
    """
    apart = log_store is not None and not log_store.endswith(_OF_ONE_DRIVER)
    return scheme in _OF_S3 and (sink == "parquet" or not apart)
