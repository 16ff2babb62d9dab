"""A ZooKeeper server from the jars that PySpark holds."""

import os
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

from deploy.embedded.errors import Unavailable
from deploy.embedded.ivy import pyspark_jars
from deploy.embedded.java import find_java
from deploy.embedded.jvm import jvm_command
from deploy.embedded.ports import HOST
from deploy.embedded.process import ServerProcess

_NEEDED: Final = (
    "zookeeper-*",
    "netty-*",
    "slf4j-api-*",
    "log4j-api-*",
    "log4j-core-*",
    "log4j-slf4j2-impl-*",
    "snappy-java-*",
    "metrics-core-*",
    "commons-io-*",
)
_ASK_S: Final = 2.0


class ZooKeeper(ServerProcess):
    """One stand-alone server; a session lasts 2 to 20 ticks."""

    name: ClassVar[str] = "zookeeper"

    def __init__(
        self, settings: Mapping[str, str | int] | None = None, *, tick_ms: int = 1000, heap: str = "128m", jvm_options: Sequence[str] = ()
    ) -> None:
        """`settings` go to zoo.cfg and win over ours."""
        super().__init__()
        self.port = self._reserve_port()
        self.tick_ms = tick_ms
        self.settings = dict(settings or {})
        self.heap = heap
        self.jvm_options = tuple(jvm_options)

    @classmethod
    def fetch(cls) -> str:
        find_java()
        found = sorted(pyspark_jars().glob("zookeeper-[0-9]*.jar"))
        if not found:
            raise Unavailable("PySpark's jars hold no ZooKeeper.", "Install the pinned PySpark: `make setup`.")
        return found[0].stem

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def hosts(self) -> str:
        """What clients call the connection string."""
        return self.address

    def _prepare(self) -> None:
        wanted = {
            "tickTime": self.tick_ms,
            "dataDir": "data",
            "clientPort": self.port,
            "clientPortAddress": HOST,
            "maxClientCnxns": 0,
            "admin.enableServer": "false",
            "4lw.commands.whitelist": "*",
            **self.settings,
        }
        self._config.write_text("".join(f"{name}={value}\n" for name, value in wanted.items()), encoding="utf-8")

    def _command(self) -> Sequence[str | Path]:
        jars = [str(jar) for pattern in _NEEDED for jar in sorted(pyspark_jars().glob(f"{pattern}.jar"))]
        main = "org.apache.zookeeper.server.ZooKeeperServerMain"
        return [*jvm_command(os.pathsep.join(jars), self.folder, self.heap, self.jvm_options), main, self._config]

    @property
    def _config(self) -> Path:
        return self.folder / "zoo.cfg"

    def _answers(self) -> bool:
        return stands_alone(self.port)


def stands_alone(port: int) -> bool:
    """Whether a ZooKeeper answers at a port of this machine, and takes sessions by itself."""
    try:
        with socket.create_connection((HOST, port), _ASK_S) as connection:
            connection.sendall(b"srvr")
            return b"Mode: standalone" in connection.makefile("rb").read()
    except OSError:
        return False
