"""The Thrift2 gateway of an embedded HBase, in its own process as in production."""

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, Final

import thriftpy2
from thriftpy2.rpc import make_client
from thriftpy2.thrift import TException
from thriftpy2.transport import TTransportException

from deploy.embedded.fetching.jars import jars
from deploy.embedded.processes.java import find_java
from deploy.embedded.processes.jvm import jvm_command
from deploy.embedded.processes.ports import HOST
from deploy.embedded.processes.process import ServerProcess

_ASK_MS: Final = 10_000
_QUESTION: Final = """
struct TTableName { 1: optional binary ns 2: required binary qualifier }
exception TIOError { 1: optional string message }
service THBaseService {
  list<TTableName> getTableNamesByPattern(1: optional string regex 2: required bool includeSysTables) throws (1: TIOError io)
}
"""  # noqa: E501
_asked: Final = thriftpy2.load_fp(io.StringIO(_QUESTION), "hbase_ready_thrift")


class HBaseThrift(ServerProcess):
    """The gateway's process. It is ready when its HBase master lists the tables."""

    name: ClassVar[str] = "hbase-thrift"
    ready_within_s: ClassVar[float] = 120.0

    def __init__(
        self, classpath: Callable[[], str], flags: Sequence[str], *, heap: str = "512m"
    ) -> None:
        super().__init__()
        self.port = self._reserve_port()
        self._classpath = classpath
        self._flags = flags
        self.heap = heap

    @classmethod
    def fetch(cls) -> str:
        """Find a JDK and download the jars of HBase; return the version."""
        find_java()
        jars("hbase")
        return "hbase-thrift-2.6.1"

    @property
    def address(self) -> str:
        """Return host:port of the Thrift2 interface."""
        return f"{HOST}:{self.port}"

    def _prepare(self) -> None:
        """Prepare nothing: the gateway reads the configuration of its HBase."""

    def _command(self) -> Sequence[str | Path]:
        main = "org.apache.hadoop.hbase.thrift2.ThriftServer"
        command = jvm_command(self._classpath(), self.folder, self.heap, self._flags)
        return [*command, main, "start", "--bind", HOST, "--port", str(self.port)]

    def _answers(self) -> bool:
        try:
            client = make_client(_asked.THBaseService, HOST, self.port, timeout=_ASK_MS)
        except (TTransportException, OSError):
            return False
        try:
            client.getTableNamesByPattern(regex=".*", includeSysTables=False)
        except (TException, OSError):
            return False
        finally:
            client.close()
        return True
