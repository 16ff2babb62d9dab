"""Canal's server with its Kafka connector, both from Maven Central; at least once."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

from deploy.embedded import find_java
from deploy.embedded.fetching.artifacts import pinned
from deploy.embedded.fetching.jars import jars
from tools.bench.measuring.workload import FINISH_SCHEMA, FINISH_TABLE, SCHEMA
from tools.bench.peers.contestant import PARTITIONS, RunSetup, Topics
from tools.bench.peers.java_peer import JavaPeer, make_topics

_PROGRAM: Final = Path(__file__).with_name("CanalToKafka.java")
_CLIENT: Final = ("kafka-clients", "lz4-java")
_CONNECTOR: Final = "canal-kafka"
_COMPILE_S: Final = 120.0


class Canal(JavaPeer):
    """Canal, reading the binlog from the first row, with the tables' present columns.

    A message has the rows of one event that go to the same partition.
    """

    name: ClassVar[str] = "canal"

    def __init__(self, setup: RunSetup) -> None:
        super().__init__(setup, _topics(f"canal_{setup.label}", setup.tables))
        self.packed = True

    @classmethod
    def fetch(cls) -> str:
        """Find a JDK and download the jars; return the version."""
        find_java()
        jars("canal")
        jars(_CONNECTOR)
        (connector,) = pinned(_CONNECTOR)
        return connector.version

    def _prepare(self) -> None:
        super()._prepare()
        make_topics(self.setup.kafka, (self._other,))
        self._write("canal.properties", {**self._source(), **self._sink()})
        compiler = find_java().home / "bin" / "javac"
        command = [compiler, "-proc:none", "-cp", _classpath(), "-d", self.folder, _PROGRAM]
        subprocess.run(list(map(str, command)), check=True, timeout=_COMPILE_S)

    @property
    def _other(self) -> str:
        """Return the topic of what belongs to no table: the ends of transactions."""
        return f"canal_{self.setup.label}_other"

    def _command(self) -> Sequence[str | Path]:
        classpath = os.pathsep.join((str(self.folder), _classpath()))
        return self._java(find_java(), classpath, _PROGRAM.stem, "canal.properties")

    def _source(self) -> Mapping[str, object]:
        database, written = self.setup.source, self.setup.written
        place = {"journalName": written.file, "position": written.offset, "timestamp": 0}
        return {
            "host": database.host,
            "port": database.port,
            "user": database.user,
            "password": database.password,
            "server_id": 800_000 + self.port,
            "place": json.dumps(place),
            "filter": _escaped(rf"{SCHEMA}\..*,{FINISH_SCHEMA}\..*"),
        }

    def _sink(self) -> Mapping[str, object]:
        tables = [(SCHEMA, table) for table in self.setup.tables]
        names = (*self.topics.rows, self.topics.finish)
        pairs = zip(names, [*tables, (FINISH_SCHEMA, FINISH_TABLE)], strict=True)
        topics = ",".join(rf"{topic}:{schema}\.{table}" for topic, (schema, table) in pairs)
        return {
            "topic": self._other,
            "finish": FINISH_SCHEMA,
            "topics": _escaped(topics),
            "partitions": PARTITIONS,
            "canal.mq.flatMessage": "true",
            "canal.mq.canalBatchSize": 50 if self.setup.live else 4096,
            "canal.mq.canalGetTimeout": 5 if self.setup.live else 100,
            "canal.instance.filter.transaction.entry": "true",
            "kafka.bootstrap.servers": self.setup.kafka.bootstrap,
            "kafka.acks": "all",
            "kafka.compression.type": "lz4",
            "kafka.batch.size": 1_000_000,
            "kafka.linger.ms": 5 if self.setup.live else 20,
            "kafka.max.request.size": 8_000_000,
            "kafka.buffer.memory": 128 * 1024 * 1024,
            "kafka.retries": 10,
        }


def _topics(prefix: str, tables: Sequence[str]) -> Topics:
    """Return one topic for each table. Canal replaces the dots in names of topics."""
    rows = tuple(f"{prefix}_{SCHEMA}_{table}" for table in tables)
    return Topics(rows, f"{prefix}_{FINISH_SCHEMA}_{FINISH_TABLE}")


def _classpath() -> str:
    client = [str(file) for name in _CLIENT for file in sorted(jars("kafka").glob(f"{name}-*.jar"))]
    return os.pathsep.join((f"{jars('canal')}/*", f"{jars(_CONNECTOR)}/*", *client))


def _escaped(pattern: str) -> str:
    """Return the pattern as a value of a file of properties."""
    return pattern.replace("\\", "\\\\")
