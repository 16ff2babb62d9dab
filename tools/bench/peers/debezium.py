"""Debezium Server, tuned: large lz4 batches, JSON without schemas, acks=all.

It writes one topic for each table, partitioned by primary key.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

import orjson
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tools.bench.measuring.workload import FINISH_SCHEMA, SCHEMA
from tools.bench.peers.contestant import BenchFailed, RunSetup, Topics
from tools.bench.peers.distribution import debezium_artifact, debezium_server
from tools.bench.peers.java_peer import JavaPeer
from tools.bench.peers.modern_java import DEBEZIUM_NEEDS, newest_java

_CONNECTORS: Final = {
    "mariadb": "io.debezium.connector.mariadb.MariaDbConnector",
    "mysql": "io.debezium.connector.mysql.MySqlConnector",
}
_CONNECTOR_NAME: Final = "kafka"  # the name of its process
_SAVE_S: Final = 30
_STRINGS: Final = "org.apache.kafka.common.serialization.StringSerializer"
_PLAIN_CONNECTION: Final = {
    "mariadb": "disable",
    "mysql": "preferred",
}  # MySQL's login without TLS would need its public key


class Debezium(JavaPeer):
    """Debezium Server with a prepared offset file: it continues at the first row of the binlog.

    The file is necessary, because Debezium has no setting to begin at older coordinates.
    """

    name: ClassVar[str] = "debezium-server"

    def __init__(self, setup: RunSetup) -> None:
        super().__init__(setup, Topics.by_table(f"debezium_{setup.label}", setup.tables))

    @classmethod
    def fetch(cls) -> str:
        """Find the newest JDK and download the pinned release; return its version."""
        newest_java(DEBEZIUM_NEEDS)
        debezium_server()
        return debezium_artifact().version

    def _prepare(self) -> None:
        super()._prepare()
        self._save_offset()
        source = {f"debezium.source.{name}": value for name, value in self._source().items()}
        self._write("config/application.properties", {**self._server(), **self._sink(), **source})

    @property
    def _prefix(self) -> str:
        return f"debezium_{self.setup.label}"

    @property
    def _offsets(self) -> str:
        return f"{self._prefix}.offsets"

    def _save_offset(self) -> None:
        """Write the start coordinates in Debezium's format of offsets."""
        admin = AdminClient({"bootstrap.servers": self.setup.kafka.bootstrap, "log_level": 0})
        topic = NewTopic(self._offsets, 1, 1, config={"cleanup.policy": "compact"})
        for made in admin.create_topics([topic]).values():
            made.result(_SAVE_S)
        written = self.setup.written
        producer = Producer({"bootstrap.servers": self.setup.kafka.bootstrap})
        place = {
            "file": written.file,
            "pos": written.offset,
            **({"gtids": written.gtids} if written.gtids else {}),
        }
        producer.produce(
            self._offsets,
            orjson.dumps(place),
            orjson.dumps([_CONNECTOR_NAME, {"server": self._prefix}]),
        )
        if producer.flush(_SAVE_S):
            raise BenchFailed("Debezium's offset could not be saved.")

    def _command(self) -> Sequence[str | Path]:
        files = debezium_server()
        (runner,) = files.glob("*-runner.jar")
        classpath = os.pathsep.join((str(runner), f"{files / 'lib'}/*"))
        return self._java(newest_java(DEBEZIUM_NEEDS), classpath, "io.debezium.server.Main")

    def _server(self) -> Mapping[str, object]:
        return {
            "quarkus.http.host": "127.0.0.1",
            "quarkus.http.port": self.port,
            "quarkus.log.console.json": "false",
            "debezium.format.key.schemas.enable": "false",
            "debezium.format.value.schemas.enable": "false",
        }

    def _sink(self) -> Mapping[str, object]:
        producer = {
            "bootstrap.servers": self.setup.kafka.bootstrap,
            "key.serializer": _STRINGS,
            "value.serializer": _STRINGS,
            "acks": "all",
            "compression.type": "lz4",
            "batch.size": 1_000_000,
            "linger.ms": 5 if self.setup.live else 20,
            "buffer.memory": 128 * 1024 * 1024,
        }
        return {
            "debezium.sink.type": "kafka",
            **{f"debezium.sink.kafka.producer.{name}": value for name, value in producer.items()},
        }

    def _source(self) -> Mapping[str, object]:
        database = self.setup.source
        return {
            "connector.class": _CONNECTORS[database.family],
            "database.hostname": database.host,
            "database.port": database.port,
            "database.user": database.user,
            "database.password": database.password,
            "database.server.id": 800_000 + self.port,
            "database.ssl.mode": _PLAIN_CONNECTION[database.family],
            "database.include.list": f"{SCHEMA},{FINISH_SCHEMA}",
            "topic.prefix": self._prefix,
            "snapshot.mode": "recovery",
            "offset.storage": "org.apache.kafka.connect.storage.KafkaOffsetBackingStore",
            "offset.storage.topic": self._offsets,
            "offset.storage.partitions": 1,
            "offset.storage.replication.factor": 1,
            "bootstrap.servers": self.setup.kafka.bootstrap,
            "schema.history.internal": "io.debezium.storage.file.history.FileSchemaHistory",
            "schema.history.internal.file.filename": self.folder / "schema.dat",
            "schema.history.internal.skip.unparseable.ddl": "true",
            "include.schema.changes": "false",
            "tombstones.on.delete": "false",
            "poll.interval.ms": 5 if self.setup.live else 50,
        }
