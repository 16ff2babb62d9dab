"""Reads a stream's checkpoint."""

import json
from collections.abc import Collection, Mapping
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import SparkSession

from spark_jobs.config.job import JobSettings, KafkaSource
from spark_jobs.errors import CheckpointOfOthers, OffsetsLost
from spark_jobs.kafka.source import topic_ids
from spark_jobs.sinks import place_of_copies
from spark_jobs.spark_util.optional_read import unless_absent

NONE_YET: Final = -1
_COPIES: Final = "copies"
_TOPICS: Final = "topics"
_NO_ID: Final = "AAAAAAAAAAAAAAAAAAAAAA"
"""The topic id that brokers before Kafka 2.8 return."""


def stream_id(spark: SparkSession, checkpoint: str) -> str:
    """Return the id of the stream in the checkpoint. A new stream has another id, and counts its
    batches from 0 again.
    """
    return str(spark.read.json(f"{checkpoint}/metadata").collect()[0]["id"])


def newest_batch(spark: SparkSession, checkpoint: str) -> int:
    """Return the number of the last batch that was started; NONE_YET if there is none.

    Only this batch can be repeated. Greater numbers belong to new batches, also if an older
    checkpoint was restored, or if its newest batches were removed to read them again.
    """
    return max(batches(spark, f"{checkpoint}/offsets"), default=NONE_YET)


def batches(spark: SparkSession, folder: str) -> Collection[int]:
    """Return the numbers of the batches that have a file in `folder`, the checkpoint's `offsets` or
    `commits`. No file is read.
    """
    files = unless_absent(
        lambda: spark.read.format("binaryFile").load(folder).select("path").collect()
    )
    names = (row["path"].rpartition("/")[2] for row in files or ())
    return [int(name) for name in names if name.isdecimal()]


def check_copies(spark: SparkSession, settings: JobSettings, checkpoint: str) -> None:
    """Record in the checkpoint to which copies its stream writes.

    Raises CheckpointOfOthers if other copies are recorded there.
    """
    path, place = f"{checkpoint}/{_COPIES}", place_of_copies(spark, settings)
    noted = _noted(spark, path)
    if noted is None:
        _note(spark, path, place)
    elif noted != place:
        raise CheckpointOfOthers(
            f"{checkpoint} belongs to copies in {noted}, and the configuration file has {place}."
        )


def check_topics(spark: SparkSession, source: KafkaSource, checkpoint: str) -> None:
    """Record in the checkpoint the ids of the topics to which its offsets refer.

    Raises OffsetsLost if a topic was created again, because the offsets are then invalid.
    """
    now = {topic: number for topic, number in topic_ids(spark, source).items() if number != _NO_ID}
    path = f"{checkpoint}/{_TOPICS}"
    known: Mapping[str, str] = json.loads(_noted(spark, path) or "{}")
    if anew := [topic for topic, number in now.items() if known.get(topic, number) != number]:
        raise OffsetsLost(
            f"{', '.join(anew)} was created again since the job read it, so the offsets in the "
            "checkpoint belong to the former topic."
        )
    if not now.items() <= known.items():
        _note(spark, path, json.dumps({**known, **now}))


def _noted(spark: SparkSession, path: str) -> str | None:
    lines = unless_absent(lambda: spark.read.text(path).collect())
    return str(lines[0]["value"]) if lines else None


def _note(spark: SparkSession, path: str, text: str) -> None:
    spark.range(1, numPartitions=1).select(sf.lit(text).alias("value")).write.mode(
        "overwrite"
    ).text(path)
