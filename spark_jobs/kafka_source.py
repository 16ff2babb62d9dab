"""Topics as DataFrames, committed messages only."""

from pyspark.sql import DataFrame, SparkSession

from spark_jobs.settings import KafkaSource


def read_stream(spark: SparkSession, source: KafkaSource) -> DataFrame:
    """Everything from the oldest offset on, as it comes; lost offsets end the stream instead of leaving a gap."""
    reader = spark.readStream.format("kafka").options(**_options(source))
    if source.max_offsets_per_trigger is not None:
        reader = reader.option("maxOffsetsPerTrigger", source.max_offsets_per_trigger)
    return reader.load()


def read_batch(spark: SparkSession, source: KafkaSource) -> DataFrame:
    """Everything that is committed now."""
    return spark.read.format("kafka").options(**_options(source)).load()


def place_of(source: KafkaSource) -> str:
    """Which topics of which servers, for sentences."""
    return f"{', '.join(source.topics)} at {source.bootstrap_servers}"


def _options(source: KafkaSource) -> dict[str, str]:
    patience_ms = str(int(source.patience_seconds * 1000))
    options = {"kafka.default.api.timeout.ms": patience_ms, "kafka.request.timeout.ms": patience_ms}
    options |= {f"kafka.{name}": value for name, value in source.client.items()}
    if source.jaas is not None:
        options["kafka.sasl.jaas.config"] = source.jaas.get_secret_value()
    return {
        **options,
        "kafka.bootstrap.servers": source.bootstrap_servers,
        "kafka.isolation.level": "read_committed",
        "subscribe": ",".join(source.topics),
        "startingOffsets": "earliest",
        "failOnDataLoss": "true",
        "includeHeaders": "true",
        # Kafka's own client tries again within the time above; asking it three times would only triple the time.
        "fetchOffset.numRetries": "1",
    }
