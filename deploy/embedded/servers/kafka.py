"""A Kafka 4.1 broker: one node in KRaft mode."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from deploy.embedded.cache import cache_folder, install
from deploy.embedded.errors import ServerDied
from deploy.embedded.fetching.jars import jars
from deploy.embedded.kafka_access import listeners
from deploy.embedded.processes.class_archive import archive_options
from deploy.embedded.processes.java import find_java
from deploy.embedded.processes.jvm import QUICK_START, jvm_command
from deploy.embedded.processes.ports import HOST
from deploy.embedded.processes.process import ServerProcess
from deploy.embedded.servers.server_tls import ServerTls

_CLUSTER_ID: Final = "cm9tYS1lbWJlZGRlZC0x"  # 16 bytes in base64, as the format tool wants it
_CONTROLLER: Final[Mapping[str, int]] = {
    # the controller accepts a killed broker only after the end of its old session
    "broker.session.timeout.ms": 2000,
    "broker.heartbeat.interval.ms": 500,
    # 0: no empty records in the metadata log, a third of the CPU time of an idle broker
    "metadata.max.idle.interval.ms": 0,
}
_ASK_S: Final = 2.0
_SCRAM_ITERATIONS: Final = 4096
_SCRAM_S: Final = 20.0


class Kafka(ServerProcess):
    """One broker and controller with every replication factor at 1.

    Topics are not created automatically.
    """

    name: ClassVar[str] = "kafka"

    def __init__(
        self,
        properties: Mapping[str, str | int] | None = None,
        *,
        heap: str = "768m",
        jvm_options: Sequence[str] = (),
        tls: ServerTls | None = None,
        plain: Mapping[str, str] | None = None,
    ) -> None:
        """`properties` go to server.properties and override ours.

        `tls` opens two more listeners: `secure_bootstrap` for SASL_SSL with SCRAM-SHA-512
        (`set_password` makes its users) and PLAIN (`plain`: user → password), and
        `mutual_bootstrap` for clients that show a certificate.
        """
        super().__init__()
        self.tls = tls
        self._plain = dict(plain or {})
        self._secure_port = None if tls is None else self._reserve_port()
        self._mutual_port = None if tls is None else self._reserve_port()
        self.port = self._reserve_port()
        self._controller_port = self._reserve_port()
        self.properties: Mapping[str, str | int] = dict(properties or {})
        self.heap = heap
        self.jvm_options = tuple(jvm_options)

    @classmethod
    def fetch(cls) -> str:
        """Find a JDK and download the jars of Kafka; return the version."""
        find_java()
        jars("kafka")
        return "kafka-4.1.0"

    @property
    def address(self) -> str:
        """Return host:port for clients: the `bootstrap.servers` of this broker."""
        return f"{HOST}:{self.port}"

    @property
    def bootstrap(self) -> str:
        """Return `bootstrap.servers` for clients."""
        return self.address

    @property
    def secure_bootstrap(self) -> str:
        """Return `bootstrap.servers` for clients with TLS and SASL."""
        return f"{HOST}:{self._secure_port}"

    @property
    def mutual_bootstrap(self) -> str:
        """Return `bootstrap.servers` for clients with a certificate."""
        return f"{HOST}:{self._mutual_port}"

    def set_password(self, user: str, password: str) -> None:
        """Create a user, or change the password of one; open connections are not closed."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        wanted = UserScramCredentialUpsertion(
            user,
            ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, _SCRAM_ITERATIONS),
            password.encode(),
        )
        for done in admin.alter_user_scram_credentials([wanted]).values():
            done.result(_SCRAM_S)

    @property
    def controller_address(self) -> str:
        """Return the address for the controllers of a cluster."""
        return f"{HOST}:{self._controller_port}"

    def _settings(self) -> Mapping[str, str | int]:
        return {
            "process.roles": "broker,controller",
            "node.id": 1,
            "listeners": (
                f"PLAINTEXT://{HOST}:{self.port},CONTROLLER://{HOST}:{self._controller_port}"
            ),
            # this machine's name may not resolve
            "advertised.listeners": f"PLAINTEXT://{HOST}:{self.port}",
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.voters": f"1@{HOST}:{self._controller_port}",
            "log.dirs": "data",
            "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 4,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "transaction.state.log.num.partitions": 4,
            "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1,
            "group.initial.rebalance.delay.ms": 0,
            "auto.create.topics.enable": "false",
            "log.retention.check.interval.ms": 300_000,
            **_CONTROLLER,
            "num.network.threads": 2,
            "num.io.threads": 4,
            **self._access(),
            **self.properties,
        }

    def _access(self) -> Mapping[str, str | int]:
        """Return the settings of the listeners with TLS; their PEM files are read at each start."""
        if self.tls is None:
            return {}
        own, controller = f"PLAINTEXT://{self.address}", f"CONTROLLER://{self.controller_address}"
        asking = f"SECURE://{self.secure_bootstrap},MUTUAL://{self.mutual_bootstrap}"
        return {
            "listeners": f"{own},{controller},{asking}",
            "advertised.listeners": f"{own},{asking}",
            "listener.security.protocol.map": (
                "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL,MUTUAL:SSL"
            ),
            "inter.broker.listener.name": "PLAINTEXT",
            **listeners(self.tls, self._plain),
        }

    def _prepare(self) -> None:
        self._properties_file.write_text(_lines(self._settings()), encoding="utf-8")
        folders = [self.folder / name for name in str(self._settings()["log.dirs"]).split(",")]
        if folders[0].exists():
            return
        # Kafka's tool needs seconds, and its result is the same each time.
        name = f"{self.fetch()}-node-{self._settings()['node.id']}-{len(folders)}"
        template = install(
            cache_folder() / "templates" / name, partial(self._format, count=len(folders))
        )
        for number, folder in enumerate(folders):
            shutil.copytree(template / str(number), folder)

    def _format(self, folder: Path, count: int) -> None:
        """Format `count` data folders for a node id with Kafka's tool."""
        properties = folder / "server.properties"
        names = {"log.dirs": ",".join(map(str, range(count))), "metadata.log.dir": "0"}
        properties.write_text(_lines({**self._settings(), **names}), encoding="utf-8")
        arguments = ["format", "--cluster-id", _CLUSTER_ID, "--config", str(properties)]
        command = [
            *jvm_command(self.classpath(), folder, "256m", QUICK_START),
            "kafka.tools.StorageTool",
            *arguments,
        ]
        ran = subprocess.run(
            command,
            cwd=folder,
            env=dict(self._environment()),
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode != 0:
            raise ServerDied(f"kafka's storage could not be formatted:\n{ran.stdout}{ran.stderr}")

    def _command(self) -> Sequence[str | Path]:
        return [
            *jvm_command(
                self.classpath(),
                self.folder,
                self.heap,
                (*archive_options(self.classpath()), *self.jvm_options),
            ),
            "kafka.Kafka",
            self._properties_file,
        ]

    @property
    def _properties_file(self) -> Path:
        return self.folder / "server.properties"

    @staticmethod
    def classpath() -> str:
        """Return the class path: all jars of Kafka."""
        return f"{jars('kafka')}/*"

    def _answers(self) -> bool:
        admin = AdminClient(
            {"bootstrap.servers": self.address, "log_level": 0, "socket.timeout.ms": 2000}
        )
        try:
            return bool(admin.list_topics(timeout=_ASK_S).brokers)
        except KafkaException:
            return False


def _lines(settings: Mapping[str, str | int]) -> str:
    return "".join(f"{name}={value}\n" for name, value in settings.items())
