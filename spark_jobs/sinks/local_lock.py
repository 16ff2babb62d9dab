"""A lock for local file systems, on which two processes can overwrite each other's commits."""

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
    """Context manager: no other job writes to the table at `place` during the block.

    `place` is the location of a Delta table or of a lock file, a path or URI. At the start of the
    block, the job waits until no other job is in such a block for the same location. If `place` is
    not on a local file system, nothing is locked, because HDFS and object stores refuse a second
    commit with the same number (for S3 see `check_writers`).
    On a local file system, Delta checks that no commit with the number exists, and then renames its
    own file: a commit of another process in between would be lost silently. The lock is the
    operating system's (flock(2)): it ends with the process, also on NFS. Raises
    JobConfigurationError if the lock file cannot be opened.
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
    """Return the path or URI `place` as an absolute path of the local file system.

    Returns None if `place` is on another file system.
    """
    return (
        Path(str(hadoop_path(spark, place).toUri().getPath())).absolute()
        if scheme_of(spark, place) == "file"
        else None
    )


def scheme_of(spark: SparkSession, place: str) -> str:
    """Return the scheme of the file system of the path or URI `place`, such as `file`, `hdfs` or
    `s3a`.

    A path without a scheme is on Hadoop's default file system (`fs.defaultFS`), whose scheme is
    then returned.
    """
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
