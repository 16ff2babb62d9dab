"""A lock for stores without transactions: a file that only one writer can create."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from time import monotonic
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from spark_jobs.errors import CopyBusy
from spark_jobs.sinks.hadoop import hadoop_configuration, hadoop_path
from spark_jobs.sinks.local_lock import alone
from spark_jobs.spark_util.jvm import java_class, java_seq

_PATIENCE_S: Final = 1800.0
"""A turn takes as long as the table takes to be written."""
_PAUSE_S: Final = 0.5
_THERE_ALREADY: Final = "FileAlreadyExistsException"
_GONE: Final = "FileNotFoundException"


@contextmanager
def turn(spark: SparkSession, place: str, writer: str) -> Iterator[None]:
    """Context manager: wait until no other writer has the lock, and hold it during the block.

    place   path or URI of the lock file
    writer  name of the job. The lock file contains it: if a writer was killed, the next writer with
            this name gets the lock

    Raises CopyBusy if another writer does not release the lock in time.
    """
    file, deadline = _File(spark, place), monotonic() + _PATIENCE_S
    while not file.made(writer) and (holder := file.text()) != writer:
        if monotonic() > deadline:
            raise CopyBusy(f"By the lock file {place}, the job {holder} is writing this copy.")
        Event().wait(_PAUSE_S)
    try:
        yield
    finally:
        file.remove()


class _File:
    """The file is created as Delta creates its commits: of two writers, one gets an error,
    except on S3.
    """

    def __init__(self, spark: SparkSession, place: str) -> None:
        session: Any = spark._jsparkSession  # noqa: SLF001
        self._spark = spark
        self._place = place
        self._path = hadoop_path(spark, place)
        self._configuration = hadoop_configuration(spark)
        self._files = self._path.getFileSystem(self._configuration)
        self._files.mkdirs(self._path.getParent())
        self._store = java_class(spark, "org.apache.spark.sql.delta.storage.LogStore").apply(
            session
        )

    def made(self, text: str) -> bool:
        try:
            with alone(self._spark, self._place):
                self._store.write(
                    self._path, java_seq(self._spark, [text]).iterator(), False, self._configuration
                )
        except Py4JJavaError as exc:
            if _THERE_ALREADY in str(exc):
                return False
            raise
        return True

    def text(self) -> str | None:
        """Return the text of the lock file; None if it was deleted meanwhile."""
        try:
            return str(self._store.read(self._path, self._configuration).mkString())
        except Py4JJavaError as exc:
            if _GONE in str(exc):
                return None
            raise

    def remove(self) -> None:
        self._files.delete(self._path, False)
