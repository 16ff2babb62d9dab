"""One process at a time, if a file system lets two of them create the same file."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Final

from pyspark.sql import SparkSession

from spark_jobs.errors import JobConfigurationError
from spark_jobs.sinks.hadoop import hadoop_configuration, hadoop_path
from spark_jobs.spark_util.report import print_notice

_LONG_S: Final = 15.0


@contextmanager
def alone(spark: SparkSession, place: str) -> Iterator[None]:
    """Context manager: exclude all other jobs from writing to a path of a local file system;
    wait until they have finished. There Delta checks for a commit of the same number, finds
    none, and renames its own to it: a commit by another process in between is lost silently.
    HDFS and the object stores refuse the second one (S3 does not, see `check_writers`). The lock
    is the operating system's (flock(2)): it ends with the process that holds it, on NFS too.
    """
    folder = local_folder(spark, place)
    if folder is None:
        yield
        return
    held = _opened(folder.with_name(f".{folder.name}.lock"))
    try:
        with _told(f"{folder}: waits for another job that writes there"):
            fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def local_folder(spark: SparkSession, place: str) -> Path | None:
    """Return a location on a local file system as its path; None: it is elsewhere."""
    return (
        Path(str(hadoop_path(spark, place).toUri().getPath())).absolute()
        if scheme_of(spark, place) == "file"
        else None
    )


def scheme_of(spark: SparkSession, place: str) -> str:
    """Return the scheme of its file system; a path without one is on Hadoop's default one."""
    named = hadoop_path(spark, place).toUri().getScheme()
    return str(
        named
        or hadoop_path(spark, hadoop_configuration(spark).getTrimmed("fs.defaultFS"))
        .toUri()
        .getScheme()
    )


@contextmanager
def _told(notice: str) -> Iterator[None]:
    """Context manager: print the reason of the wait once, if the block takes longer than a
    commit.
    """
    late = Timer(_LONG_S, print_notice, (notice,))
    late.daemon = True
    late.start()
    try:
        yield
    finally:
        late.cancel()


def _opened(file: Path) -> int:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        return os.open(file, os.O_RDONLY | os.O_CREAT)
    except OSError as exc:
        raise JobConfigurationError(
            f"{file}: {exc.strerror}. The job must be allowed to write below copy_root."
        ) from exc
