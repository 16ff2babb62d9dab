"""Reads the position records of instances, and checks that a source is the server in the record.

A position record is committed in one Kafka transaction with its rows. So no message has a greater
order key than a record that is read after the message.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyspark.sql.functions as sf
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from relay.envelope import order_text
from relay.errors import PositionNewer, PositionUnreadable
from relay.model.records.position_record import PositionRecord
from relay.refine import configuration_of_rows
from spark_jobs.config.copy import SourceServer
from spark_jobs.config.job import KafkaSource
from spark_jobs.errors import (
    PositionMissing,
    PositionUnknown,
    RulesDiffer,
    SourceNotTheOne,
    SourcesIncomplete,
)
from spark_jobs.kafka.source import read_batch
from spark_jobs.origin import SourceCoordinates, SourceDatabase, covered


@dataclass(frozen=True, slots=True)
class Published:
    """The published position of a source: its instance's order key as `order` text, the binlog
    coordinates, and the server's identity.

    gtid_set  text of the executed set; "" without GTIDs
    together  names of the sources that the instance reads; "" for a single one
    rows      digest of the rules, masks and transforms of published rows; "" without any
    """

    order: str
    file: str
    offset: int
    server_uuid: str
    server_id: int
    gtid_set: str
    together: frozenset[str] = frozenset({""})
    rows: str = ""

    def covers(self, database: SourceDatabase, place: SourceCoordinates) -> bool:
        """Return whether the instance has published all transactions that the source had committed
        when its coordinates were `place`.
        """
        return covered(database, place, self.gtid_set, self.file, self.offset)


def read_published(
    spark: SparkSession, kafka: KafkaSource, installation: str, instances: Iterable[str]
) -> Mapping[str, Published]:
    """Return the published position of each instance, or for a group of each source
    `instance/name`.

    Raises PositionMissing, PositionUnknown.
    """
    wanted = [each.partition("/")[::2] for each in sorted(set(instances))]
    topics = {instance: f"{installation}.position.{instance}" for instance, _ in wanted}
    newest = _newest(spark, kafka, topics.values())
    values = {(row["topic"], row["key"]): row["value"] for row in newest}
    found = {instance: values.get((topic, instance)) for instance, topic in topics.items()}
    if missing := [instance for instance, value in found.items() if value is None]:
        raise PositionMissing(
            f"Installation {installation} has no position of {', '.join(missing)}."
        )
    records = {
        instance: record_of(instance, bytes(value))
        for instance, value in found.items()
        if value is not None
    }
    return {
        f"{instance}/{name}" if name else instance: place_in(records[instance], instance, name)
        for instance, name in wanted
    }


def record_of(instance: str, value: bytes) -> PositionRecord:
    """Return the position record of an instance in the value of a message. Raises PositionUnknown
    if it cannot be read.
    """
    try:
        return PositionRecord.from_bytes(value)
    except PositionNewer as exc:
        raise PositionUnknown(
            f"The position record of {instance} has format {exc.found}, which this version of "
            "the jobs cannot read."
        ) from exc
    except PositionUnreadable as exc:
        raise PositionUnknown(f"Instance {instance}: {exc.reason}") from exc


def place_in(record: PositionRecord, instance: str, name: str) -> Published:
    """Return the position of one source in an instance's record. `name` is "" for a single source.

    Raises SourcesIncomplete if the record does not have the source.
    """
    standing = record.positions
    if name not in standing:
        kind = (
            f"the sources {', '.join(sorted(standing))}"
            if record.following
            else "a single source, which needs no name"
        )
        raise SourcesIncomplete(
            f"The position of {instance} is that of {kind}; [[sources]] names "
            f"{name or 'one without a name'}."
        )
    source = standing[name]
    return Published(
        order=order_text(*record.order),
        file=source.binlog.file,
        offset=source.binlog.offset,
        server_uuid=source.identity.server_uuid,
        server_id=source.identity.server_id,
        gtid_set=source.gtid_set,
        together=frozenset(standing),
        rows=record.rows,
    )


def check_together(servers: Iterable[SourceServer], published: Mapping[str, Published]) -> None:
    """Raise SourcesIncomplete if a group in `published` has a source that is not among `servers`.

    The rows of that source would otherwise count as deleted.
    """
    named: dict[str, set[str]] = {}
    for server in servers:
        named.setdefault(server.instance, set()).add(server.name)
    for key, each in published.items():
        instance = key.partition("/")[0]
        if missing := sorted(each.together - named[instance]):
            raise SourcesIncomplete(
                f"{instance} reads a group of sources, and no [[sources]] has the name "
                f"{', '.join(missing)}."
            )


def check_identity(database: SourceDatabase, published: Published) -> None:
    """Raise SourceNotTheOne if the source is not the server whose binlog the position names."""
    family = database.rows("SELECT @@server_id AS id, @@version AS version")[0]
    if "mariadb" in family["version"].lower() or not published.server_uuid:
        expected, found = str(published.server_id), str(family["id"])
    else:
        expected, found = (
            published.server_uuid,
            database.rows("SELECT @@server_uuid AS uuid")[0]["uuid"],
        )
    if expected != found:
        place = f"{database.settings.host}:{database.settings.port}"
        raise SourceNotTheOne(
            f"{database.settings.instance} reads the server {expected}, and at {place} the "
            f"server {found} answers."
        )


def check_rules(server: SourceServer, published: Published) -> None:
    """Raise RulesDiffer if the rules, masks, transforms and lookups in the configuration are not
    those by which the instance publishes.
    """
    own = configuration_of_rows(server)
    if own != published.rows:
        relay = "has none" if not published.rows else "has others" if own else "has some"
        raise RulesDiffer(
            f"The rules, masks or transforms in [[sources]] of instance {server.instance} are "
            f"not those of the relay, which {relay}."
        )


def _newest(spark: SparkSession, kafka: KafkaSource, topics: Collection[str]) -> Sequence[Row]:
    """The newest value of each key of these topics."""
    try:
        records = read_batch(spark, kafka.model_copy(update={"topics": tuple(topics)})).select(
            "topic", sf.col("key").cast("string").alias("key"), "value", "offset"
        )
        return (
            records.groupBy("topic", "key")
            .agg(sf.max_by("value", "offset").alias("value"))
            .collect()
        )
    except (PySparkException, Py4JError) as exc:
        if "UnknownTopicOrPartition" in str(exc):
            raise PositionMissing(
                f"A position topic is missing among {', '.join(sorted(topics))}."
            ) from exc
        raise
