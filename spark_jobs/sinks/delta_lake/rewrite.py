"""Removes rows of a Delta table without deletion vectors: the files that contain them are
replaced.
"""

from collections.abc import Iterable, Sequence
from time import time

from spark_jobs.sinks.delta_lake.transaction import DELTA, JavaObject, OpenCopy


def touched(copy: OpenCopy, files: Iterable[str]) -> Sequence[JavaObject]:
    """Return the entries of Delta's log for some of the files that `copy` reads.

    `files` has the names of these files, as in Spark's column `_metadata.file_path`.
    """
    helper, folder = (
        copy.java(f"{DELTA}.commands.DMLWithDeletionVectorsHelper"),
        copy.log.dataPath(),
    )
    names = helper.generateCandidateFileMap(folder, copy.files)
    return [helper.getTouchedFile(folder, file, names) for file in files]


def held_by(files: Iterable[JavaObject]) -> int | None:
    """Return the number of rows in the files, without rows that deletion vectors mark as removed.

    Returns None if the statistics of a file are missing.
    """
    told = [each.numLogicalRecords() for each in files]
    return sum(int(each.get()) for each in told) if all(each.isDefined() for each in told) else None


def removed(files: Iterable[JavaObject]) -> Sequence[JavaObject]:
    """Return the actions that remove the files. They take effect when they are committed."""
    now_ms = int(time() * 1000)
    return [each.removeWithTimestamp(now_ms, True) for each in files]
