"""Flush and major compaction, which operators start in the shell of HBase: through HBase's own Java
client.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from py4j.java_gateway import GatewayParameters, JavaGateway

from deploy.embedded import HBase, find_java
from deploy.embedded.fetching.ivy import pyspark_jars
from tests.support.waiting import wait_until


class HBaseAdmin:
    """The administration of one HBase."""

    def __init__(self, java: Any) -> None:
        self._java = java
        configuration = java.org.apache.hadoop.hbase.HBaseConfiguration.create()
        self._admin = java.org.apache.hadoop.hbase.client.ConnectionFactory.createConnection(
            configuration
        ).getAdmin()

    def compact(self, table: str) -> None:
        """Write the table's memory to disk and compact it.

        Return when one file is left whose markers of deletes are gone.
        """
        name = self._java.org.apache.hadoop.hbase.TableName.valueOf(table)
        self._admin.flush(name)
        before = self._admin.getLastMajorCompactionTimestamp(name)
        self._admin.majorCompact(name)
        wait_until(
            lambda: self._admin.getLastMajorCompactionTimestamp(name) > before,
            f"the major compaction of {table}",
        )


@contextmanager
def hbase_admin(hbase: HBase) -> Iterator[HBaseAdmin]:
    """Context manager: a JVM with HBase's client."""
    py4j = next(pyspark_jars().glob("py4j-*.jar"))
    command = [
        str(find_java().binary),
        "-Xmx256m",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        f"{hbase.classpath()}:{py4j}",
    ]
    child = subprocess.Popen(
        [*command, "py4j.GatewayServer", "--die-on-broken-pipe", "0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert child.stdout is not None
        gateway = JavaGateway(
            gateway_parameters=GatewayParameters(
                port=int(child.stdout.readline()), auto_convert=True
            )
        )
        try:
            yield HBaseAdmin(gateway.jvm)
        finally:
            gateway.close()
    finally:
        child.kill()
        child.communicate()
