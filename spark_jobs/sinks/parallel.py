"""Runs a function for several tables in parallel, in threads that belong to the query's Spark
jobs.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from pyspark import inheritable_thread_target
from pyspark.sql import SparkSession

from spark_jobs.sinks.sink import ReducedBatch, TableBatch

Given = TypeVar("Given")
Result = TypeVar("Result")


def together(
    spark: SparkSession, call: Callable[[TableBatch], Result], batch: ReducedBatch, threads: int
) -> Mapping[str, Result]:
    """Call a function for each table of a batch; return table → result.

    `threads` is the largest number of calls at the same time.
    """

    def counted(changes: TableBatch) -> Result:
        result = call(changes)
        batch.done(changes.number or 0)
        return result

    results = in_threads(spark, counted, batch.tables, threads)
    return {changes.table: each for changes, each in zip(batch.tables, results, strict=True)}


def in_threads(
    spark: SparkSession, call: Callable[[Given], Result], given: Sequence[Given], threads: int
) -> Sequence[Result]:
    """Call a function for each element of `given`; return the results in the same order.

    `threads` is the largest number of calls at the same time. If the query is stopped, the Spark
    jobs of the calls are stopped too.
    """
    if threads == 1 or len(given) <= 1:
        return [call(each) for each in given]
    with ThreadPoolExecutor(min(threads, len(given)), "merge") as pool:
        inherited = inheritable_thread_target(spark)(call)
        waiting = [pool.submit(inherited, each) for each in given]
        return [each.result() for each in waiting]
