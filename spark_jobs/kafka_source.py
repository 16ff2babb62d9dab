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


def _options(source: KafkaSource) -> dict[str, str]:
    options = {f"kafka.{name}": value for name, value in source.client.items()}
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
    }
