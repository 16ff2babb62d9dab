"""Changes that are committed in the topics and not yet in the copy."""

import json
from collections.abc import Collection, Mapping
from typing import Any

import pyspark.sql.functions as sf
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from relay.envelope import Header
from spark_jobs.kafka_source import Bounds, read_batch
from spark_jobs.settings import JobSettings
from spark_jobs.text_list import texts


def newest_waiting(spark: SparkSession, settings: JobSettings, keys: Collection[str]) -> Mapping[str, str]:
    """Return key → greatest order among the messages that the stream has not applied yet.

    Where the stream has a checkpoint these are the messages behind it; without one all messages count, as the next batch job reads them.
    """
    if not keys:
        return {}
    applied = applied_offsets(spark, settings.checkpoint, settings.kafka.topics)
    records = read_batch(spark, settings.kafka, Bounds(from_offsets=applied))
    own = sf.filter("headers", lambda header: header["key"] == Header.ORDER.value)
    order = sf.try_element_at(own, sf.lit(1))["value"].cast("string").alias("order")
    wanted = texts(spark, "key", keys)
    messages = records.select(sf.col("key").cast("string").alias("key"), order).join(sf.broadcast(wanted), "key", "left_semi")
    return {row["key"]: row["order"] for row in messages.groupBy("key").agg(sf.max("order").alias("order")).collect() if row["order"]}


def applied_offsets(spark: SparkSession, checkpoint: str | None, topics: Collection[str]) -> str | None:
    """Return where the stream goes on, as Spark's JSON of offsets; None, the oldest message, where it has applied nothing yet."""
    batches = {} if checkpoint is None else _files(spark, f"{checkpoint}/commits")
    if not batches:
        return None
    offsets = _files(spark, f"{checkpoint}/offsets").get(max(batches))
    return None if offsets is None else starting_offsets(offsets, topics)


def starting_offsets(log: str, topics: Collection[str]) -> str | None:
    """Read a file of the checkpoint's `offsets`: a version, metadata, then one line of offsets for the topics."""
    found: dict[str, Any] = json.loads(log.splitlines()[-1])
    return json.dumps(found) if set(found) == set(topics) else None


def _files(spark: SparkSession, folder: str) -> Mapping[int, str]:
    """Batch number → content of the file that bears it."""
    try:
        rows = spark.read.text(folder, wholetext=True).select("value", sf.col("_metadata.file_name").alias("name")).collect()
    except AnalysisException as exc:
        if exc.getCondition() == "PATH_NOT_FOUND":
            return {}
        raise
    return {int(row["name"]): row["value"] for row in rows if row["name"].isdigit()}
