"""Several calls at the same time, each in a thread that Spark takes for the query's own."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from pyspark import inheritable_thread_target
from pyspark.sql import SparkSession

Result = TypeVar("Result")


def together(spark: SparkSession, calls: Sequence[Callable[[], Result]], threads: int) -> Sequence[Result]:
    """Call them all, at most `threads` at a time, and return their results in order. Ending the query ends their jobs too."""
    if threads == 1 or len(calls) <= 1:
        return [call() for call in calls]
    with ThreadPoolExecutor(min(threads, len(calls)), "merge") as pool:
        inherit = inheritable_thread_target(spark)
        waiting = [pool.submit(inherit(call)) for call in calls]
        return [each.result() for each in waiting]
