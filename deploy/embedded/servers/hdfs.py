"""HDFS 3.4: a NameNode that has permissions switched on, and one DataNode."""

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final
from urllib.request import Request, urlopen

from deploy.embedded.errors import ServerDied
from deploy.embedded.fetching.jars import jars
from deploy.embedded.processes.java import find_java
from deploy.embedded.processes.jvm import jvm_command
from deploy.embedded.processes.ports import HOST
from deploy.embedded.processes.process import ServerProcess
from deploy.embedded.processes.two_processes import TwoProcesses
from deploy.embedded.servers.hadoop_site import write_site

_PACKAGE: Final = "org.apache.hadoop.hdfs.server"
_NAME_NODE: Final = f"{_PACKAGE}.namenode.NameNode"
_WEB_APPLICATIONS: Final = ("hdfs", "datanode", "static")
"""Folders that Hadoop's own packages have.

Without them its HTTP servers do not start, and pages are not needed.
"""
_OPENED: Final = "--add-opens=java.base/java.lang=ALL-UNNAMED"  # as Hadoop asks of JDK 17
_SUPERUSER: Final = "hdfs"
_FOR_EVERYBODY: Final = "1777"
_NAME: Final = "cluster"
_FAILOVER: Final = "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider"
_ASK_S: Final = 5
_FORMAT_S: Final = 60


class Hdfs(TwoProcesses):
    """A NameNode and a DataNode, which stores one copy of each block on the local disk.

    All users may create folders below the root, as below /tmp. There is no authentication: the user
    is the name of the operating system, or HADOOP_USER_NAME.
    """

    name: ClassVar[str] = "hdfs"

    def __init__(self, *, heap: str = "256m", jvm_options: Sequence[str] = ()) -> None:
        super().__init__()
        self.port = self._reserve_port()
        self._http_port = self._reserve_port()
        self.heap = heap
        self._flags = (_OPENED, *jvm_options)
        self._datanode = _DataNode(self._classpath, self._serves, self._flags)

    @classmethod
    def fetch(cls) -> str:
        """Find a JDK and download the jars, HBase's included; return the version."""
        find_java()
        jars("hbase")
        jars("hdfs")
        return "hdfs-3.4.2"

    @property
    def address(self) -> str:
        """Return host:port of the NameNode's RPC interface, as in `hdfs://` URLs."""
        return f"{HOST}:{self.port}"

    @property
    def uri(self) -> str:
        """Return the URI of the root for Hadoop's clients."""
        return f"hdfs://{self.address}"

    @property
    def named_uri(self) -> str:
        """Return the URI of the root with the name of the cluster, for clients with
        `client_settings`.
        """
        return f"hdfs://{_NAME}"

    @property
    def client_settings(self) -> Mapping[str, str | int]:
        """Return the settings of a client's hdfs-site.xml for a named cluster, as with standby
        NameNodes.
        """
        return {
            "dfs.nameservices": _NAME,
            f"dfs.ha.namenodes.{_NAME}": "one",
            f"dfs.namenode.rpc-address.{_NAME}.one": self.address,
            f"dfs.client.failover.proxy.provider.{_NAME}": _FAILOVER,
            "dfs.replication": 1,
        }

    @property
    def companion(self) -> ServerProcess:
        """Return the DataNode, which starts and stops with the NameNode."""
        return self._datanode

    def start(self) -> "Hdfs":
        """Start both processes and open the root folder to all users."""
        super().start()
        self._ask(
            f"/webhdfs/v1/?op=SETPERMISSION&permission={_FOR_EVERYBODY}&user.name={_SUPERUSER}",
            method="PUT",
        )
        return self

    def paths(self, folder: str) -> Sequence[str]:
        """List the names of a folder, which must exist."""
        found = json.loads(self._ask(f"/webhdfs/v1{folder}?op=LISTSTATUS&user.name={_SUPERUSER}"))
        return [each["pathSuffix"] for each in found["FileStatuses"]["FileStatus"]]

    def _classpath(self) -> str:
        return f"{self.folder / 'conf'}:{jars('hbase')}/*:{jars('hdfs')}/*"

    def _prepare(self) -> None:
        conf = self.folder / "conf"
        write_site(conf / "core-site.xml", {"fs.defaultFS": self.uri})
        write_site(conf / "hdfs-site.xml", {**self._site(), **self._datanode.site()})
        for application in _WEB_APPLICATIONS:
            (conf / "webapps" / application).mkdir(parents=True, exist_ok=True)
        if not (self.folder / "names" / "current").exists():
            self._format()

    def _site(self) -> Mapping[str, str | int]:
        return {
            "dfs.namenode.name.dir": (self.folder / "names").as_uri(),
            "dfs.namenode.http-address": f"{HOST}:{self._http_port}",
            # this machine's own name may not resolve
            "dfs.namenode.datanode.registration.ip-hostname-check": "false",
            "dfs.namenode.handler.count": 4,
            "dfs.replication": 1,
        }

    def _format(self) -> None:
        done = subprocess.run(
            [*map(str, self._command()), "-format", "-nonInteractive"],
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_FORMAT_S,
            check=False,
        )
        if done.returncode:
            raise ServerDied(
                f"HDFS could not make its folder of "
                f"names:\n{done.stdout.decode(errors='replace')[-4000:]}"
            )

    def _command(self) -> Sequence[str | Path]:
        return [*jvm_command(self._classpath(), self.folder, self.heap, self._flags), _NAME_NODE]

    def _environment(self) -> Mapping[str, str]:
        return {**super()._environment(), "HADOOP_USER_NAME": _SUPERUSER}

    def _answers(self) -> bool:
        return self._state() is not None

    def _serves(self) -> bool:
        """Return whether the DataNode has reported its blocks."""
        state = self._state()
        return (
            state is not None
            and state["NumLiveDataNodes"] == 1
            and state["FSState"] == "Operational"
        )

    def _state(self) -> Mapping[str, Any] | None:
        try:
            beans = json.loads(
                self._ask("/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState")
            )["beans"]
        except OSError:
            return None
        return beans[0] if beans else None

    def _ask(self, path: str, method: str = "GET") -> bytes:
        with urlopen(
            Request(f"http://{HOST}:{self._http_port}{path}", method=method), timeout=_ASK_S
        ) as answer:
            content: bytes = answer.read()
        return content


class _DataNode(ServerProcess):
    """The DataNode; it reads the configuration of the NameNode."""

    name: ClassVar[str] = "hdfs-datanode"

    def __init__(
        self,
        classpath: Callable[[], str],
        serves: Callable[[], bool],
        flags: Sequence[str],
        *,
        heap: str = "256m",
    ) -> None:
        super().__init__()
        self._port, self._http_port, self._ipc_port = (self._reserve_port() for _ in range(3))
        self._classpath = classpath
        self._serves = serves
        self._flags = flags
        self.heap = heap

    @classmethod
    def fetch(cls) -> str:
        return Hdfs.fetch()

    @property
    def address(self) -> str:
        return f"{HOST}:{self._port}"

    def site(self) -> Mapping[str, str | int]:
        return {
            "dfs.datanode.data.dir": (self.folder / "blocks").as_uri(),
            "dfs.datanode.address": self.address,
            "dfs.datanode.http.address": f"{HOST}:{self._http_port}",
            "dfs.datanode.ipc.address": f"{HOST}:{self._ipc_port}",
            "dfs.datanode.hostname": "localhost",
        }

    def _prepare(self) -> None:
        """Do nothing: the DataNode creates its folder."""

    def _command(self) -> Sequence[str | Path]:
        return [
            *jvm_command(self._classpath(), self.folder, self.heap, self._flags),
            f"{_PACKAGE}.datanode.DataNode",
        ]

    def _environment(self) -> Mapping[str, str]:
        return {**super()._environment(), "HADOOP_USER_NAME": _SUPERUSER}

    def _answers(self) -> bool:
        return self._serves()
