"""A ZooKeeper server from the jars that PySpark holds."""

import os
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

from deploy.embedded.errors import Unavailable
from deploy.embedded.fetching.ivy import pyspark_jars
from deploy.embedded.processes.java import find_java
from deploy.embedded.processes.jvm import jvm_command
from deploy.embedded.processes.ports import HOST
from deploy.embedded.processes.process import ServerProcess
from deploy.embedded.servers.server_tls import ServerTls

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
        self,
        settings: Mapping[str, str | int] | None = None,
        *,
        tick_ms: int = 1000,
        heap: str = "128m",
        jvm_options: Sequence[str] = (),
        users: Mapping[str, str] | None = None,
        tls: ServerTls | None = None,
    ) -> None:
        """`settings` go to zoo.cfg and override ours.

        `users` (name → password) may log in by SASL; `tls` opens `secure_hosts` too.

        Both may be replaced before a restart.
        """
        super().__init__()
        self.users = dict(users or {})
        self.tls = tls
        self._secure_port = None if tls is None else self._reserve_port()
        self.port = self._reserve_port()
        self.tick_ms = tick_ms
        self.settings = dict(settings or {})
        self.heap = heap
        self.jvm_options = tuple(jvm_options)

    @classmethod
    def fetch(cls) -> str:
        """Find a JDK and the ZooKeeper jar of PySpark; return the jar's name and version.

        Raises Unavailable if PySpark holds none.
        """
        find_java()
        found = sorted(pyspark_jars().glob("zookeeper-[0-9]*.jar"))
        if not found:
            raise Unavailable(
                "PySpark's jars hold no ZooKeeper.", "Install the pinned PySpark: `make setup`."
            )
        return found[0].stem

    @property
    def address(self) -> str:
        """Return host:port for clients, as in ZooKeeper's connection string."""
        return f"{HOST}:{self.port}"

    @property
    def hosts(self) -> str:
        """Return the connection string."""
        return self.address

    @property
    def secure_hosts(self) -> str:
        """Return the connection string for TLS. Raises RuntimeError without TLS."""
        if self._secure_port is None:
            raise RuntimeError("this ZooKeeper has no TLS")
        return f"{HOST}:{self._secure_port}"

    def _prepare(self) -> None:
        wanted = {
            "tickTime": self.tick_ms,
            "dataDir": "data",
            "clientPort": self.port,
            "clientPortAddress": HOST,
            "maxClientCnxns": 0,
            "admin.enableServer": "false",
            "4lw.commands.whitelist": "*",
            "forceSync": "no",  # a killed server loses nothing; a busy disk delays no answer
            **self._access(),
            **self.settings,
        }
        self._config.write_text(
            "".join(f"{name}={value}\n" for name, value in wanted.items()), encoding="utf-8"
        )

    def _access(self) -> dict[str, str | int]:
        """Write the files of SASL and TLS; return their settings."""
        found: dict[str, str | int] = {}
        if self.users:
            users = "\n".join(
                f'  user_{name}="{password}"' for name, password in self.users.items()
            )
            module = "org.apache.zookeeper.server.auth.DigestLoginModule"
            jaas = f"Server {{\n  {module} required\n{users};\n}};\n"
            self._jaas.write_text(jaas, encoding="utf-8")
            found["authProvider.sasl"] = (
                "org.apache.zookeeper.server.auth.SASLAuthenticationProvider"
            )
        if self.tls is not None and self._secure_port is not None:
            found |= {
                "secureClientPort": self._secure_port,
                "secureClientPortAddress": HOST,
                "serverCnxnFactory": "org.apache.zookeeper.server.NettyServerCnxnFactory",
                "authProvider.x509": "org.apache.zookeeper.server.auth.X509AuthenticationProvider",
                "ssl.keyStore.location": str(self.tls.identity),
                "ssl.trustStore.location": str(self.tls.authority),
                "ssl.clientAuth": self.tls.clients,
                # of clients, whose certificates name a person or program
                "ssl.hostnameVerification": "false",
            }
        return found

    def _command(self) -> Sequence[str | Path]:
        jars = [
            str(jar) for pattern in _NEEDED for jar in sorted(pyspark_jars().glob(f"{pattern}.jar"))
        ]
        main = "org.apache.zookeeper.server.ZooKeeperServerMain"
        options = [
            *self.jvm_options,
            *([f"-Djava.security.auth.login.config={self._jaas}"] if self.users else []),
        ]
        return [
            *jvm_command(os.pathsep.join(jars), self.folder, self.heap, options),
            main,
            self._config,
        ]

    @property
    def _jaas(self) -> Path:
        return self.folder / "jaas.conf"

    @property
    def _config(self) -> Path:
        return self.folder / "zoo.cfg"

    def _answers(self) -> bool:
        return stands_alone(self.port)


def stands_alone(port: int) -> bool:
    """Return whether a stand-alone ZooKeeper at this port accepts sessions."""
    try:
        with socket.create_connection((HOST, port), _ASK_S) as connection:
            connection.sendall(b"srvr")
            return b"Mode: standalone" in connection.makefile("rb").read()
    except OSError:
        return False
