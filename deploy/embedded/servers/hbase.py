"""A stand-alone HBase 2.6 (master, region server and their ZooKeeper in one JVM) with a Thrift2
gateway before it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

from deploy.embedded.fetching.jars import jars
from deploy.embedded.processes.java import find_java
from deploy.embedded.processes.jvm import jvm_command
from deploy.embedded.processes.ports import HOST
from deploy.embedded.processes.process import ServerProcess
from deploy.embedded.processes.two_processes import TwoProcesses
from deploy.embedded.servers.hadoop_site import write_site
from deploy.embedded.servers.hbase_thrift import HBaseThrift
from deploy.embedded.servers.hdfs import Hdfs
from deploy.embedded.servers.zookeeper import stands_alone

_OPENED: Final = ("lang", "lang.reflect", "nio", "util", "util.concurrent")
# What HBase asks of JDK 17, and a start that is wanted soon more than code that runs fast after an
# hour.
_FLAGS: Final = (
    *(f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in _OPENED),
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
    "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "--add-modules=jdk.unsupported",
    "-Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true",
)


class HBase(TwoProcesses):
    """One process for HBase and its ZooKeeper, and one for the gateway. Data is on disk or on HDFS.

    Clients speak Thrift2 to `address`.

    Acknowledged writes survive `kill`: the log is flushed to the operating system, or to HDFS.
    """

    name: ClassVar[str] = "hbase"
    stop_within_s: ClassVar[float] = 60.0

    def __init__(
        self,
        settings: Mapping[str, str | int] | None = None,
        *,
        heap: str = "1g",
        jvm_options: Sequence[str] = (),
        hdfs: Hdfs | None = None,
    ) -> None:
        """`settings` go to hbase-site.xml and override ours; `jvm_options` are the gateway's too.

        On HDFS it is the user `hbase`.
        """
        super().__init__()
        self._hdfs = hdfs
        self._zookeeper_port = self._reserve_port()
        self.settings = dict(settings or {})
        self.heap = heap
        self._flags = (*_FLAGS, *jvm_options)
        self.thrift = HBaseThrift(self.classpath, self._flags)

    @classmethod
    def fetch(cls) -> str:
        """Find a JDK and download the jars of HBase and of its client; return the version."""
        find_java()
        jars("hbase")
        hbase_client_jars()
        return "hbase-2.6.4"

    @property
    def address(self) -> str:
        """Return host:port of the Thrift2 gateway."""
        return self.thrift.address

    @property
    def companion(self) -> ServerProcess:
        """Return the Thrift2 gateway, which starts and stops with HBase."""
        return self.thrift

    @property
    def quorum(self) -> str:
        """Return the address of its ZooKeeper, for Java clients."""
        return f"{HOST}:{self._zookeeper_port}"

    def classpath(self) -> str:
        """Return the class path: the folder of the configuration, then the jars."""
        return f"{self.folder / 'conf'}:{jars('hbase')}/*"

    def _site(self) -> Mapping[str, str | int]:
        return {
            "hbase.cluster.distributed": "false",
            "hbase.rootdir": f"file://{self.folder / 'data'}"
            if self._hdfs is None
            else f"{self._hdfs.named_uri}/hbase",
            "hbase.tmp.dir": f"{self.folder / 'tmp'}",
            "hbase.zookeeper.property.dataDir": f"{self.folder / 'zookeeper'}",
            "hbase.zookeeper.property.clientPort": self._zookeeper_port,
            "hbase.zookeeper.property.clientPortAddress": HOST,
            "hbase.zookeeper.quorum": HOST,
            "hbase.master.hostname": "localhost",  # this machine's own name may not resolve
            "hbase.regionserver.hostname": "localhost",
            "hbase.master.ipc.address": HOST,
            "hbase.regionserver.ipc.address": HOST,
            "hbase.localcluster.assign.random.ports": "true",
            "hbase.master.info.port": -1,
            "hbase.regionserver.info.port": -1,
            "hbase.thrift.info.port": -1,
            "hbase.wal.provider": "filesystem",
            # Hadoop's checksummed local files keep what was flushed in the process; the raw ones
            # hand it to the operating system.
            "fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
            "hbase.unsafe.stream.capability.enforce": "false",
            "hbase.regionserver.handler.count": 10,
            # There is one region server: the master waits for no other.
            "hbase.master.wait.on.regionservers.mintostart": 1,
            "hbase.master.wait.on.regionservers.maxtostart": 1,
            **self.settings,
        }

    def _prepare(self) -> None:
        write_site(self.folder / "conf" / "hbase-site.xml", self._site())
        if self._hdfs is not None:
            write_site(self.folder / "conf" / "hdfs-site.xml", self._hdfs.client_settings)

    def _environment(self) -> Mapping[str, str]:
        return {**super()._environment(), "HADOOP_USER_NAME": "hbase"}

    def _command(self) -> Sequence[str | Path]:
        return [
            *jvm_command(self.classpath(), self.folder, self.heap, self._flags),
            "org.apache.hadoop.hbase.master.HMaster",
            "start",
        ]

    def _answers(self) -> bool:
        """Return whether its ZooKeeper answers; the gateway checks the rest."""
        return stands_alone(self._zookeeper_port)


def hbase_client_jars() -> tuple[Path, ...]:
    """Return HBase's Java client with what it needs beside Spark's own jars; fetched when
    missing.
    """
    return tuple(sorted(jars("hbase-client").glob("*.jar")))
