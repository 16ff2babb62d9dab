"""One batch of messages → the copies; shared by both jobs."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from time import monotonic, time

import pyspark.sql.functions as sf
from pyspark import inheritable_thread_target
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.figures import BatchFigures
from spark_jobs.sinks import DeltaCopies
from spark_jobs.transforms import latest_by_key, parse_events


@dataclass(frozen=True, slots=True)
class _Contents:
    """What a batch holds before anything is applied: table → names of its columns, reason → messages, time of the newest message."""

    rows: int
    columns: Mapping[str, Sequence[str]]
    problems: Mapping[str, int]
    newest_s: float


def apply_batch(records: DataFrame, copies: DeltaCopies, threads: int = 1) -> BatchFigures:
    """Apply a batch of Kafka records; again, if need be, with the same result. `threads` tables are merged at the same time."""
    began = monotonic()
    events = parse_events(records).persist()
    newest = latest_by_key(events.where(sf.col("problem").isNull())).persist()
    try:
        contents = _contents(events)
        if contents.problems:
            copies.quarantine(events.where(sf.col("problem").isNotNull()))
        keys, deletes = newest.agg(sf.count("*"), sf.count_if("deleted")).collect()[0] if contents.columns else (0, 0)
        winners = sum(_in_threads(records.sparkSession, _merges(newest, contents.columns, copies), threads))
    finally:
        newest.unpersist()
        events.unpersist()
    lag = max(time() - contents.newest_s, 0.0) if contents.rows else 0.0
    return BatchFigures(contents.rows, keys, winners, deletes, contents.problems, lag, monotonic() - began)


def _contents(events: DataFrame) -> _Contents:
    """Look through the batch once."""
    names = sf.array_distinct(sf.flatten(sf.collect_set(sf.map_keys("data")))).alias("names")
    newest = sf.max(sf.col("timestamp").cast("double")).alias("newest")
    groups = events.groupBy("table", "problem").agg(sf.count("*").alias("rows"), names, newest).collect()
    problems: dict[str, int] = {}
    for group in groups:
        if group["problem"] is not None:
            problems[group["problem"]] = problems.get(group["problem"], 0) + group["rows"]
    return _Contents(
        rows=sum(group["rows"] for group in groups),
        columns={group["table"]: group["names"] for group in groups if group["problem"] is None},
        problems=problems,
        newest_s=max((group["newest"] for group in groups), default=0.0),
    )


def _merges(newest: DataFrame, columns: Mapping[str, Sequence[str]], copies: DeltaCopies) -> Sequence[Callable[[], int]]:
    return [partial(copies.apply, table, newest.where(sf.col("table") == table), names) for table, names in sorted(columns.items())]


def _in_threads(spark: SparkSession, calls: Sequence[Callable[[], int]], threads: int) -> Sequence[int]:
    """Call them all, in threads that Spark takes for this one: ending the query ends their jobs too."""
    if threads == 1 or len(calls) <= 1:
        return [call() for call in calls]
    with ThreadPoolExecutor(min(threads, len(calls)), "merge") as pool:
        inherit = inheritable_thread_target(spark)
        waiting = [pool.submit(inherit(call)) for call in calls]
        return [each.result() for each in waiting]
