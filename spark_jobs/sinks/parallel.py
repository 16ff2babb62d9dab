"""Runs a function for several tables in parallel, in threads that belong to the query's Spark
jobs.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from pyspark import inheritable_thread_target
from pyspark.sql import SparkSession

from spark_jobs.sinks.sink import ReducedBatch, TableBatch

Result = TypeVar("Result")


def together(
    spark: SparkSession, call: Callable[[TableBatch], Result], batch: ReducedBatch, threads: int
) -> Mapping[str, Result]:
    """Call a function for each table of a batch, at most `threads` at the same time. Return table →
    result.

    If the query is stopped, the Spark jobs of the calls are stopped too.
    """
    tables = batch.tables

    def counted(changes: TableBatch) -> Result:
        result = call(changes)
        batch.done(changes.number or 0)
        return result

    if threads == 1 or len(tables) <= 1:
        return {changes.table: counted(changes) for changes in tables}
    with ThreadPoolExecutor(min(threads, len(tables)), "merge") as pool:
        inherited = inheritable_thread_target(spark)(counted)
        waiting = {changes.table: pool.submit(inherited, changes) for changes in tables}
        return {table: each.result() for table, each in waiting.items()}
