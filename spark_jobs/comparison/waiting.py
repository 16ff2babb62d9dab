"""Changes that are committed in the topics and not yet in the copy."""

import json
from collections.abc import Collection, Mapping
from typing import Any

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.absence import unless_absent
from spark_jobs.checkpoint import batches
from spark_jobs.kafka_source import Bounds, read_batch
from spark_jobs.settings import JobSettings
from spark_jobs.text_list import texts
from spark_jobs.transforms import moved_rows, parse_events


def newest_waiting(spark: SparkSession, settings: JobSettings, keys: Collection[str]) -> Mapping[str, str]:
    """Return key → greatest order among the messages that the stream has not applied yet.

    Where the stream has a checkpoint these are the messages behind it; without one all messages count, as the next batch job reads them.
    """
    if not keys:
        return {}
    applied = applied_offsets(spark, settings.checkpoint, settings.kafka.topics)
    return newest_orders(read_batch(spark, settings.kafka, Bounds(from_offsets=applied)), keys)


def newest_orders(records: DataFrame, keys: Collection[str]) -> Mapping[str, str]:
    """Return key → greatest order among the changes of these keys, found as the jobs find them: a message may hold several rows."""
    changes = parse_events(records)
    every = changes.unionByName(moved_rows(changes)).where(sf.col("order").isNotNull())
    wanted = texts(records.sparkSession, "key", keys)
    newest = every.join(sf.broadcast(wanted), "key", "left_semi").groupBy("key").agg(sf.max("order").alias("order"))
    return {row["key"]: row["order"] for row in newest.collect()}


def applied_offsets(spark: SparkSession, checkpoint: str | None, topics: Collection[str]) -> str | None:
    """Return where the stream goes on, as Spark's JSON of offsets; None, the oldest message, where it has applied nothing yet."""
    applied = () if checkpoint is None else batches(spark, f"{checkpoint}/commits")
    if not applied:
        return None
    offsets = unless_absent(lambda: spark.read.text(f"{checkpoint}/offsets/{max(applied)}", wholetext=True).collect())
    return starting_offsets(offsets[0]["value"], topics) if offsets else None


def starting_offsets(log: str, topics: Collection[str]) -> str | None:
    """Read a file of the checkpoint's `offsets`: a version, metadata, then one line of offsets for the topics."""
    found: dict[str, Any] = json.loads(log.splitlines()[-1])
    return json.dumps(found) if set(found) == set(topics) else None
