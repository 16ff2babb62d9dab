"""Reads from a folder that may not exist yet."""

from collections.abc import Callable
from typing import Final, TypeVar

from pyspark.errors import AnalysisException

Found = TypeVar("Found")
# The second is Spark's message about an existing empty folder.
_NOT_THERE: Final = frozenset({"PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA"})


def unless_absent(read: Callable[[], Found]) -> Found | None:
    """Return the result of a read; None if Spark reports that the path does not exist.

    Every other error is raised.
    """
    try:
        return read()
    except AnalysisException as exc:
        if exc.getCondition() in _NOT_THERE:
            return None
        raise
