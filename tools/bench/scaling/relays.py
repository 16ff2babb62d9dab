"""Relay processes with several instances, each of which relays the same part of the binlog to a
separate topic.
"""

from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any, Final

import tomli_w

from deploy.embedded import Kafka, SqlServer, ZooKeeper
from relay.kafka import TopicAdmin
from relay.pipeline.delivery.topics import new_topic, wanted_topic
from tests.support.relays.relay_process import Installation, RelayProcess
from tools.bench.measuring.usage import is_running
from tools.bench.measuring.workload import SCHEMA
from tools.bench.peers.contestant import BenchFailed
from tools.bench.scaling.binlog import Part, finish_schema
from tools.bench.scaling.points import Shape

_SERVER_ID: Final = 910_000


class Relays:
    """One installation, its instances spread evenly over its processes.

    It creates the topics before the measurement.
    """

    def __init__(
        self,
        label: str,
        shape: Shape,
        part: Part,
        folder: Path,
        source: SqlServer,
        kafka: Kafka,
        zookeeper: ZooKeeper,
    ) -> None:
        self.topics = tuple(f"scaling_{label}_{number}" for number in range(shape.instances))
        self.finishes = tuple(f"{topic}_finish" for topic in self.topics)
        self._installations: list[Installation] = []
        self._processes: list[RelayProcess] = []
        self._started: list[RelayProcess] = []
        instances = [
            _instance(number, topic, part, source) for number, topic in enumerate(self.topics)
        ]
        for number in range(shape.processes):
            own = folder / str(number)
            own.mkdir()
            installation = Installation(
                f"scaling_{label}",
                own,
                source,
                kafka,
                zookeeper,
                session_timeout_seconds=6,
                placement={"processes": shape.workers},
            )
            self._installations.append(installation)
            installation.document["instances"] = instances[number :: shape.processes]
            installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")
            self._processes.append(RelayProcess(installation))
        self._map()
        self._make_topics(shape)

    def _map(self) -> None:
        finishes = [(finish_schema(number), topic) for number, topic in enumerate(self.finishes)]
        self._installations[0].map(
            topics=[{"logicDb": schema, "topic": topic} for schema, topic in finishes],
            dbs=[{"logicDb": schema, "realDbs": schema} for schema, _ in finishes],
        )

    def _make_topics(self, shape: Shape) -> None:
        """Create the topics as the relay does, except those of the finish lines, which have one
        partition.
        """
        settings = self._installations[0].settings
        admin = TopicAdmin(settings.kafka)
        instance = settings.instances[0]
        for topic, partitions in (
            dict.fromkeys(self.topics, shape.partitions) | dict.fromkeys(self.finishes, 1)
        ).items():
            wanted = wanted_topic(settings.kafka, instance, topic, partitions)
            admin.create(new_topic(topic, wanted))

    @property
    def pids(self) -> tuple[int, ...]:
        """Return the ids of all relay processes."""
        return tuple(process.pid for process in self._processes)

    @property
    def running(self) -> bool:
        """Return False once one of the processes has ended."""
        return all(map(is_running, self.pids))

    def start(self) -> None:
        """Start the processes one after the other; each answers before the next one starts."""
        for process in self._processes:
            process.start()
            self._started.append(process)

    def close(self) -> None:
        """End the processes; may be called twice."""
        while self._installations:
            self._installations.pop().close()
        try:
            while self._started:
                self._started.pop().stop()
        except TimeoutExpired as exc:
            raise BenchFailed(
                f"It did not end when it was told to. Its log ends:\n{self.log_tail()}"
            ) from exc

    def log_tail(self) -> str:
        """Return the ends of all logs, for error messages."""
        return "\n".join(process.log_tail() for process in self._processes)


def _instance(number: int, topic: str, part: Part, source: SqlServer) -> dict[str, Any]:
    """Return the settings of an instance; all others are defaults. `default_topic` gives each
    instance a separate topic under one mapping.
    """
    return {
        "name": f"instance_{number}",
        "source": {
            "host": source.host,
            "port": source.port,
            "user": "relay",
            "password": "relay",
            "server_id": _SERVER_ID + number,
        },
        "start": {"at": "position", "journal_name": part.file},
        "filter": {"filter_regex": f"{SCHEMA}\\..*,{finish_schema(number)}\\..*"},
        "routing": {"unmapped_db": "default_topic", "default_topic": topic},
    }
