"""Topics as DataFrames, committed messages only."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import DataFrame, SparkSession

from spark_jobs.java import java_class
from spark_jobs.settings import KafkaSource


@dataclass(frozen=True, slots=True)
class Bounds:
    """Which messages a batch reads: by the time of publishing, or by offsets as JSON; the upper bound is not read itself.

    Nothing given: from the oldest message to the newest that is committed.
    """

    since: datetime | None = None
    until: datetime | None = None
    from_offsets: str | None = None
    to_offsets: str | None = None

    def options(self) -> Mapping[str, str]:
        """The same in the words of Spark's Kafka source."""
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
    """Everything from the oldest offset on, as it comes; lost offsets end the stream instead of leaving a gap."""
    reader = spark.readStream.format("kafka").options(**_options(source))
    if source.max_offsets_per_trigger is not None:
        reader = reader.option("maxOffsetsPerTrigger", source.max_offsets_per_trigger)
    return reader.load()


def read_batch(spark: SparkSession, source: KafkaSource, bounds: Bounds | None = None) -> DataFrame:
    """Everything that is committed now, within the bounds."""
    return spark.read.format("kafka").options(**_options(source)).options(**(bounds or Bounds()).options()).load()


def place_of(source: KafkaSource) -> str:
    """Which topics of which servers, for sentences."""
    return f"{', '.join(source.topics)} at {source.bootstrap_servers}"


def topic_ids(spark: SparkSession, source: KafkaSource) -> Mapping[str, str]:
    """Return topic → the id that its brokers gave it when it was made; a topic of the same name that was made anew has another."""
    options = java_class(spark, "java.util.HashMap")(_client_options(source))
    admin = java_class(spark, "org.apache.kafka.clients.admin.AdminClient").create(options)
    try:
        told = admin.describeTopics(java_class(spark, "java.util.ArrayList")(source.topics)).allTopicNames().get()
        return {str(name): str(told[name].topicId().toString()) for name in source.topics}
    finally:
        admin.close()


def _client_options(source: KafkaSource) -> dict[str, str]:
    """What any client of Kafka's own is told."""
    patience_ms = str(int(source.patience_seconds * 1000))
    options = {"default.api.timeout.ms": patience_ms, "request.timeout.ms": patience_ms, **source.client}
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
        # Kafka's own client tries again within the time above; asking it three times would only triple the time.
        "fetchOffset.numRetries": "1",
    }
