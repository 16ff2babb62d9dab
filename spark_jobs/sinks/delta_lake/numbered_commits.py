"""Commits of Delta with a number: Delta skips a commit if the table already has this number or a
greater one of the same writer.

Source: Delta's documentation, "Idempotent table writes in foreachBatch".
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final
from uuid import uuid4

from pyspark.sql import SparkSession

from spark_jobs.sinks.delta_lake.transaction import Batch

_WRITER: Final = "spark.databricks.delta.write.txnAppId"
_NUMBER: Final = "spark.databricks.delta.write.txnVersion"
_ONE_AT_A_TIME: Final = Lock()


@contextmanager
def numbered_commits(spark: SparkSession, writer: str, number: int | None) -> Iterator[None]:
    """Context manager: Delta records the writer and the number in each commit of the block.

    `number` None: commits have no number, and none is skipped.
    """
    if number is None:
        yield
        return
    spark.conf.set(_WRITER, writer)
    spark.conf.set(_NUMBER, str(number))
    try:
        yield
    finally:
        spark.conf.unset(_WRITER)
        spark.conf.unset(_NUMBER)


@contextmanager
def under_another_writer(spark: SparkSession, batch: Batch) -> Iterator[None]:
    """Context manager inside `numbered_commits`: Delta accepts `batch` although the table already
    has its number.

    The table has this number from another batch, because the checkpoint was reset to an older state
    since then. The commits of the block use another writer name. Commits that other threads make to
    other tables during the block may use that name too.
    """
    with _ONE_AT_A_TIME:
        spark.conf.set(_WRITER, f"{batch.writer} {uuid4()}")
        try:
            yield
        finally:
            spark.conf.set(_WRITER, batch.writer)
