"""Reads topics as DataFrames of raw records; only committed messages.

`spark_jobs.transforms.parse_events` makes columns of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession

from relay.envelope import DDL_TOPIC_SUFFIX
from spark_jobs.config.job import KafkaSource
from spark_jobs.errors import StatementsUnread, TopicUnknown
from spark_jobs.spark_util.jvm import java_class


@dataclass(frozen=True, slots=True)
class Bounds:
    """Which messages a batch reads: those published from `since` up to `until`, or those from
    `from_offsets` up to `to_offsets`, which are offsets as Spark's JSON.

    The upper bound itself is not read. None: no such bound. Without bounds, all committed messages
    are read.
    """

    since: datetime | None = None
    until: datetime | None = None
    from_offsets: str | None = None
    to_offsets: str | None = None

    def options(self) -> Mapping[str, str]:
        """Return the bounds as options of Spark's Kafka source."""
        found = {}
        if self.since is not None:
            found["startingTimestamp"] = str(int(self.since.timestamp() * 1000))
        if self.until is not None:
            found["endingTimestamp"] = str(int(self.until.timestamp() * 1000))
        if self.from_offsets is not None:
            found["startingOffsets"] = self.from_offsets
        if self.to_offsets is not None:
            found["endingOffsets"] = self.to_offsets
        return found


def read_stream(spark: SparkSession, source: KafkaSource) -> DataFrame:
    """Return a stream of all records from the oldest offset on.

    If Kafka has deleted records that were not read yet, the stream ends with an error.
    """
    reader = spark.readStream.format("kafka").options(**_options(source))
    if source.max_offsets_per_trigger is not None:
        reader = reader.option("maxOffsetsPerTrigger", source.max_offsets_per_trigger)
    return reader.load()


def read_batch(spark: SparkSession, source: KafkaSource, bounds: Bounds | None = None) -> DataFrame:
    """Return all messages within `bounds` that are committed now; None: all messages."""
    return (
        spark.read.format("kafka")
        .options(**_options(source))
        .options(**(bounds or Bounds()).options())
        .load()
    )


def place_of(source: KafkaSource) -> str:
    """Return the topics and the Kafka servers as text for error messages."""
    return f"{', '.join(source.topics)} at {source.bootstrap_servers}"


def topic_ids(spark: SparkSession, source: KafkaSource) -> Mapping[str, str]:
    """Return topic → the id that the brokers assigned when it was created.

    A topic that was deleted and created again has another id. Raises TopicUnknown, which names the
    topics that are missing.
    """
    found = _found_ids(spark, source, source.topics)
    if missing := [name for name, number in found.items() if number is None]:
        raise TopicUnknown(
            f"No topic {', '.join(missing)} exists at {source.bootstrap_servers}, or the login "
            f"may not see it."
        )
    return {name: number for name, number in found.items() if number is not None}


def check_statements(spark: SparkSession, source: KafkaSource) -> None:
    """Raise StatementsUnread if statements of a topic are in a separate topic that is not read.

    Without such a topic, statements are in the topic of the rows.
    """
    beside = [
        f"{name}{DDL_TOPIC_SUFFIX}" for name in source.topics if not name.endswith(DDL_TOPIC_SUFFIX)
    ]
    unread = [name for name in beside if name not in source.topics]
    if there := [
        name for name, number in _found_ids(spark, source, unread).items() if number is not None
    ]:
        raise StatementsUnread(
            "truncate = 'follow' needs the statements, and kafka.topics lacks "
            f"{', '.join(there)}, where the TRUNCATEs are."
        )


def _found_ids(
    spark: SparkSession, source: KafkaSource, topics: Sequence[str]
) -> Mapping[str, str | None]:
    options = java_class(spark, "java.util.HashMap")(_client_options(source))
    admin = java_class(spark, "org.apache.kafka.clients.admin.AdminClient").create(options)
    try:
        asked = admin.describeTopics(
            java_class(spark, "java.util.ArrayList")(list(topics))
        ).topicNameValues()
        return {name: _id_in(asked[name]) for name in topics}
    finally:
        admin.close()


def _id_in(answer: Any) -> str | None:
    """Return the id in the answer about one topic; None if the topic does not exist."""
    try:
        return str(answer.get().topicId().toString())
    except Py4JError as exc:
        if "UnknownTopicOrPartitionException" in str(exc):
            return None
        raise


def _client_options(source: KafkaSource) -> dict[str, str]:
    """Return the settings of Kafka's own clients."""
    patience_ms = str(int(source.patience_seconds * 1000))
    options = {
        "default.api.timeout.ms": patience_ms,
        "request.timeout.ms": patience_ms,
        **source.client,
    }
    if source.jaas is not None:
        options["sasl.jaas.config"] = source.jaas.get_secret_value()
    return {**options, "bootstrap.servers": source.bootstrap_servers}


def _options(source: KafkaSource) -> dict[str, str]:
    return {
        **{f"kafka.{name}": value for name, value in _client_options(source).items()},
        "kafka.isolation.level": "read_committed",
        "subscribe": ",".join(source.topics),
        "startingOffsets": "earliest",
        "startingOffsetsByTimestampStrategy": "latest",  # nothing is that new: nothing is read
        "failOnDataLoss": "true",
        "includeHeaders": "true",
        # Kafka's own client tries again within the time above; asking it three times would only
        # triple the time.
        "fetchOffset.numRetries": "1",
    }
