"""The project's own programs as child processes of the demo: admin, relay, Spark job."""

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import httpx
import tomli_w

from deploy.embedded import (
    Kafka,
    ServerProcess,
    SqlServer,
    ZooKeeper,
    spark_environment,
    spark_jars,
)
from deploy.embedded.processes.ports import HOST

INSTALLATION: Final = "demo"
INSTANCE: Final = "shop"
TOPIC: Final = "shop"
TOKEN: Final = "demo-token"  # noqa: S105 - it guards nothing
PARTITIONS: Final = 4
_RELAY_SERVER_ID: Final = 77_001
_ASK_S: Final = 2.0
_PROJECT: Final = Path(__file__).resolve().parents[2]


class OwnProgram(ServerProcess):
    """A program of this project, run by the interpreter that runs the demo."""

    @classmethod
    def fetch(cls) -> str:
        """Return a label only: the files are those of this checkout."""
        return "this project"

    @property
    def config(self) -> Path:
        """The configuration file, in the program's folder."""
        return self.folder / "config.toml"

    def _prepare(self) -> None:
        """Do nothing: the constructor writes the files of the program."""

    def _environment(self) -> Mapping[str, str]:
        return {**super()._environment(), "PYTHONPATH": str(_PROJECT)}


class RelayProgram(OwnProgram):
    """Runs `roma relay` as a child process."""

    name: ClassVar[str] = "relay"

    def __init__(self, database: SqlServer, kafka: Kafka, zookeeper: ZooKeeper) -> None:
        super().__init__()
        self._port = self._reserve_port()
        self.admin_port = self._reserve_port()
        source = {
            "host": database.host,
            "port": database.port,
            "user": database.relay,
            "password": database.relay,
        }
        instance = {
            "name": INSTANCE,
            "source": {**source, "server_id": _RELAY_SERVER_ID},
            "filter": {"filter_regex": "shop_.*\\..*"},
            "partition": {"partitions_num": PARTITIONS},
        }
        document = {
            "installation": INSTALLATION,
            "kafka": {
                "bootstrap_servers": kafka.bootstrap,
                "replication_factor": 1,
                "min_insync_replicas": 1,
            },
            "zookeeper": {"hosts": zookeeper.hosts},
            "status": {"port": self._port},
            "api": {"port": self.admin_port, "token": TOKEN},
            "instances": [instance],
        }
        self.config.write_text(tomli_w.dumps(document), encoding="utf-8")

    @property
    def address(self) -> str:
        """Return host:port of the relay's status server."""
        return f"{HOST}:{self._port}"

    def state(self) -> Mapping[str, Any]:
        """Return the status of the instance as JSON; empty before the relay runs it."""
        statuses: list[dict[str, Any]] = httpx.get(
            f"http://{self.address}/status", trust_env=False, timeout=_ASK_S
        ).json()
        return statuses[0] if statuses else {}

    def _command(self) -> Sequence[str | Path]:
        return [sys.executable, "-m", "relay", "relay", "--config", self.config]

    def _answers(self) -> bool:
        try:
            return bool(self.state().get("state") == "RUNNING")
        except httpx.HTTPError:
            return False


class AdminProgram(OwnProgram):
    """`roma api`; it reads the same file as the relay."""

    name: ClassVar[str] = "admin"

    def __init__(self, relay: RelayProgram) -> None:
        super().__init__()
        self._relay = relay

    @property
    def address(self) -> str:
        """Return host:port of the admin, which the relay's settings file names."""
        return f"{HOST}:{self._relay.admin_port}"

    @property
    def url(self) -> str:
        """Return the base URL of the admin, without a final slash."""
        return f"http://{self.address}"

    def _command(self) -> Sequence[str | Path]:
        return [sys.executable, "-m", "api", "--config", self._relay.config]

    def _answers(self) -> bool:
        try:
            return (
                httpx.get(f"{self.url}/readyz", trust_env=False, timeout=_ASK_S).status_code
                == httpx.codes.OK
            )
        except httpx.HTTPError:
            return False


class CopyProgram(OwnProgram):
    """The Spark job that writes the copies; on request it writes their rows to a file."""

    name: ClassVar[str] = "spark"
    ready_within_s: ClassVar[float] = 120.0

    def __init__(self, kafka: Kafka) -> None:
        super().__init__()
        document = {
            "kafka": {"bootstrap_servers": kafka.bootstrap, "topics": [TOPIC]},
            "copy_root": str(self.copy_root),
            "checkpoint": str(self.folder / "checkpoint"),
            "trigger_seconds": 1,
            # the demo ends before the second compiler has an effect
            "jvm_options": "-XX:TieredStopAtLevel=1",
            "jars": [str(path) for path in spark_jars()],
        }
        self.config.write_text(tomli_w.dumps(document), encoding="utf-8")

    @classmethod
    def fetch(cls) -> str:
        """Download the jars that the job needs; return a label, not a version."""
        spark_jars()
        return "this project"

    @property
    def address(self) -> str:
        """Return the folder of the copies: the job listens on no port."""
        return str(self.copy_root)

    @property
    def copy_root(self) -> Path:
        """Return the folder that holds a Delta table for each logical table."""
        return self.folder / "copy"

    @property
    def request(self) -> Path:
        """Return the file with which the demo requests the rows, after everything is published."""
        return self.folder / "wanted"

    @property
    def rows(self) -> Path:
        """Return the file of the job with the rows of every copy, as JSON."""
        return self.folder / "rows.json"

    def _command(self) -> Sequence[str | Path]:
        return [sys.executable, "-m", "deploy.demo.copy_job", self.config, self.request, self.rows]

    def _environment(self) -> Mapping[str, str]:
        return {
            **super()._environment(),
            **spark_environment(),
            "SPARK_LOCAL_DIRS": str(self.folder),
        }

    def _signal(self, number: signal.Signals) -> None:
        """Signal only the job: it stops its JVM after the batch. A signal to the JVM would
        interrupt the batch.
        """
        if number is signal.SIGTERM and self.running:
            os.kill(self.pid, number)
        else:
            super()._signal(number)

    def _answers(self) -> bool:
        return "the stream runs" in self.log_tail(400)
