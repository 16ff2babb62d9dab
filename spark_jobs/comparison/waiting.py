"""Finds changes that are committed in the topics and not yet in the copy."""

import json
from collections.abc import Collection, Mapping
from typing import Any

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.config.job import JobSettings
from spark_jobs.kafka.source import Bounds, read_batch
from spark_jobs.kafka.stream_checkpoint import batches
from spark_jobs.spark_util.optional_read import unless_absent
from spark_jobs.spark_util.text_frame import texts
from spark_jobs.transforms import (
    DELETED,
    KEY,
    ORDER,
    REAL_TABLE,
    TRUNCATE,
    Reader,
    Style,
    parse_events,
    rekeyed_rows,
)


def newest_waiting(
    spark: SparkSession, settings: JobSettings, keys: Collection[str], copy: DataFrame | None = None
) -> Mapping[str, str]:
    """Return message key → greatest order key among its changes that the stream has not applied
    yet.

    settings  the settings of the stream: topics, checkpoint, and whether it follows TRUNCATEs
    keys      the message keys to search for
    copy      the copy of their table; None: only messages with these keys are considered

    If the stream has a checkpoint, the messages after it are not applied yet. Without a checkpoint
    all messages count, because the next batch job reads all of them. If the stream follows
    TRUNCATEs or renames of columns, these statements change rows of `copy` too, so they also count
    for the keys of the rows that they change.
    """
    if not keys:
        return {}
    applied = applied_offsets(spark, settings.checkpoint, settings.kafka.topics)
    records = read_batch(spark, settings.kafka, Bounds(from_offsets=applied))
    changes = newest_orders(records, keys, settings.value_style)
    if copy is None or settings.truncate != "follow":
        return changes
    statements = waiting_statements(records, copy, keys, renames=settings.follows_renames)
    return {
        key: max(changes.get(key, ""), statements.get(key, "")) for key in {*changes, *statements}
    }


def newest_orders(
    records: DataFrame, keys: Collection[str], style: Style = "exact"
) -> Mapping[str, str]:
    """Return message key → greatest order key among the changes of this key.

    records  Kafka records; each may contain several rows
    keys     the message keys to search for
    style    how the texts in the messages show bytes
    """
    changes = parse_events(records, reader=Reader(style)).where(~sf.col("history"))
    every = changes.unionByName(rekeyed_rows(changes)).where(sf.col("order").isNotNull())
    wanted = texts(records.sparkSession, "key", keys)
    newest = (
        every.join(sf.broadcast(wanted), "key", "left_semi")
        .groupBy("key")
        .agg(sf.max("order").alias("order"))
    )
    return {row["key"]: row["order"] for row in newest.collect()}


def waiting_statements(
    records: DataFrame, copy: DataFrame, keys: Collection[str], *, renames: bool = False
) -> Mapping[str, str]:
    """Return message key → order key of the newest TRUNCATE that changes the key's row in the copy.

    records  Kafka records that the stream has not applied yet
    copy     the copy; without the column `_real_table` the result is empty
    keys     the message keys to search for
    renames  True: statements that rename columns count too
    """
    if REAL_TABLE not in copy.columns:
        return {}
    changes = parse_events(records, truncates=True, renames=renames)
    statement = (sf.col("type") == TRUNCATE) | (
        sf.col("renamed").isNotNull() if renames else sf.lit(False)
    )
    followed = changes.where(statement & sf.col("problem").isNull())
    floors = followed.groupBy("table", sf.col("real_table").alias(REAL_TABLE)).agg(
        sf.max("order").alias("floor")
    )
    wanted = texts(records.sparkSession, KEY, keys)
    rows = copy.where(~sf.col(DELETED)).join(sf.broadcast(wanted), KEY, "left_semi")
    table = sf.get_json_object(KEY, "$[0]")
    met = (
        rows.withColumn("table", table)
        .join(sf.broadcast(floors), ["table", REAL_TABLE])
        .where(sf.col(ORDER) < sf.col("floor"))
    )
    return {row[KEY]: row["floor"] for row in met.select(KEY, "floor").collect()}


def applied_offsets(
    spark: SparkSession, checkpoint: str | None, topics: Collection[str]
) -> str | None:
    """Return the offsets at which the stream continues, as the JSON of Spark's Kafka source.

    Returns None if `checkpoint` is None, if the stream has not completed a batch yet, or if the
    checkpoint is for other topics than `topics`.
    """
    applied = () if checkpoint is None else batches(spark, f"{checkpoint}/commits")
    if not applied:
        return None
    offsets = unless_absent(
        lambda: spark.read.text(f"{checkpoint}/offsets/{max(applied)}", wholetext=True).collect()
    )
    return starting_offsets(offsets[0]["value"], topics) if offsets else None


def starting_offsets(log: str, topics: Collection[str]) -> str | None:
    """Return the offsets in `log` as JSON; None if they are not for exactly these topics.

    `log` is the text of a file in the checkpoint's folder `offsets`. Its last line has the offsets.
    """
    found: dict[str, Any] = json.loads(log.splitlines()[-1])
    return json.dumps(found) if set(found) == set(topics) else None
