"""Where the instances are: their position records, and whether a source is the server that they speak of.

The record of the last rows is committed in one transaction with them, so no committed message of an instance has a greater pair than
a record that is read after it.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyspark.sql.functions as sf
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from relay.envelope import order_text
from spark_jobs.errors import PositionMissing, SourceNotTheOne
from spark_jobs.kafka_source import read_batch
from spark_jobs.settings import KafkaSource
from spark_jobs.source import SourceDatabase, SourcePlace, covered

_FORMATS: Final = (1, 2)


@dataclass(frozen=True, slots=True)
class Published:
    """How far an instance has published: the pair as `order` text, the place in the binlog, and whose binlog that is.

    `gtid_set` is the executed set's text, "" without GTIDs.
    """

    order: str
    file: str
    offset: int
    server_uuid: str
    server_id: int
    gtid_set: str

    def covers(self, database: SourceDatabase, place: SourcePlace) -> bool:
        """Say whether all that the source had committed at this place has been published."""
        return covered(database, place, self.gtid_set, self.file, self.offset)


def read_published(spark: SparkSession, kafka: KafkaSource, installation: str, instances: Iterable[str]) -> Mapping[str, Published]:
    """Return where each instance is now. Raises PositionMissing."""
    names = sorted(set(instances))
    topics = {instance: f"{installation}.position.{instance}" for instance in names}
    newest = _newest(spark, kafka, topics.values())
    values = {(row["topic"], row["key"]): row["value"] for row in newest}
    found = {instance: values.get((topic, instance)) for instance, topic in topics.items()}
    if missing := [instance for instance, value in found.items() if value is None]:
        raise PositionMissing(f"Installation {installation} has no position of {', '.join(missing)}.")
    return {instance: _published(instance, json.loads(bytes(value))) for instance, value in found.items() if value is not None}


def check_identity(database: SourceDatabase, published: Published) -> None:
    """Raise SourceNotTheOne where the source is not the server whose binlog the position names."""
    family = database.rows("SELECT @@server_id AS id, @@version AS version")[0]
    if "mariadb" in family["version"].lower() or not published.server_uuid:
        expected, found = str(published.server_id), str(family["id"])
    else:
        expected, found = published.server_uuid, database.rows("SELECT @@server_uuid AS uuid")[0]["uuid"]
    if expected != found:
        place = f"{database.settings.host}:{database.settings.port}"
        raise SourceNotTheOne(f"{database.settings.instance} reads the server {expected}, and at {place} the server {found} answers.")


def _newest(spark: SparkSession, kafka: KafkaSource, topics: Collection[str]) -> Sequence[Row]:
    """The newest value of each key of these topics."""
    try:
        records = read_batch(spark, kafka.model_copy(update={"topics": tuple(topics)})).select(
            "topic", sf.col("key").cast("string").alias("key"), "value", "offset"
        )
        return records.groupBy("topic", "key").agg(sf.max_by("value", "offset").alias("value")).collect()
    except (PySparkException, Py4JError) as exc:
        if "UnknownTopicOrPartition" in str(exc):
            raise PositionMissing(f"A position topic is missing among {', '.join(sorted(topics))}.") from exc
        raise


def _published(instance: str, fields: dict[str, Any]) -> Published:
    if fields.get("format") not in _FORMATS:
        raise PositionMissing(f"The position record of {instance} has format {fields.get('format')}, which this job does not read.")
    source, order = fields["source"], fields["order"]
    identity = source["identity"]
    pair = order_text(order["execute_time"], order["execute_position"])
    binlog = source["binlog"]
    return Published(pair, binlog["file"], binlog["offset"], identity["server_uuid"], identity["server_id"], source["gtid_set"])
