"""A peer written in Java, run as a child process that the kernel kills when this process ends."""

from collections.abc import Mapping
from typing import Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from deploy.embedded import Kafka, ServerProcess
from deploy.embedded.processes.java import Java
from deploy.embedded.processes.ports import HOST
from tools.bench.peers.contestant import PARTITIONS, BenchFailed, RunSetup, Topics

HEAP: Final = "1g"  # 4g made neither of them faster
_TOPICS_S: Final = 30


class JavaPeer(ServerProcess):
    """A Java contestant. Its topics are created before it starts. `start` returns when the process
    runs, which may not be ready yet.
    """

    def __init__(self, setup: RunSetup, topics: Topics) -> None:
        super().__init__()
        self.packed = False
        self.setup = setup
        self.topics = topics
        self.port = self._reserve_port()

    @property
    def address(self) -> str:
        """Return host:port of the peer's HTTP interface; not every peer has one."""
        return f"{HOST}:{self.port}"

    def _prepare(self) -> None:
        make_topics(self.setup.kafka, self.topics.all)

    def _answers(self) -> bool:
        return True

    def _java(self, java: Java, classpath: str, main: str, *arguments: str) -> list[str]:
        opened = "java.base/java.lang=ALL-UNNAMED"  # Quarkus requires it on JDK 24 and later
        return [
            str(java.binary),
            f"-Xmx{HEAP}",
            "--add-opens",
            opened,
            f"-Djava.io.tmpdir={self.folder}",
            "-cp",
            classpath,
            main,
            *arguments,
        ]

    def _write(self, name: str, properties: Mapping[str, object]) -> None:
        file = self.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(
            "".join(f"{key}={value}\n" for key, value in properties.items()), encoding="utf-8"
        )


def make_topics(kafka: Kafka, names: tuple[str, ...]) -> None:
    """Make topics with PARTITIONS partitions. Raises BenchFailed."""
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap, "log_level": 0})
    for name, made in admin.create_topics(
        [NewTopic(name, PARTITIONS, 1) for name in names]
    ).items():
        try:
            made.result(_TOPICS_S)
        except KafkaException as exc:
            raise BenchFailed(f"The topic {name} could not be made: {exc}") from exc
