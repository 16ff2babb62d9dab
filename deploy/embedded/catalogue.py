"""The servers by name, and what the demo cannot do without."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from deploy.embedded.hbase import HBase
from deploy.embedded.hdfs import Hdfs
from deploy.embedded.kafka import Kafka
from deploy.embedded.mariadb import DebianMariaDB, MariaDB
from deploy.embedded.mysql import MySQL
from deploy.embedded.mysql_5_6 import MySQL56
from deploy.embedded.process import ServerProcess
from deploy.embedded.spark import spark_jars
from deploy.embedded.zookeeper import ZooKeeper

SERVERS: Final[Mapping[str, type[ServerProcess]]] = MappingProxyType(
    {kind.name: kind for kind in (MariaDB, ZooKeeper, Kafka, DebianMariaDB, MySQL, MySQL56, Hdfs, HBase)}  # in the order of starting
)
DEMO: Final = (MariaDB.name, ZooKeeper.name, Kafka.name)
REQUIRED: Final = frozenset({*DEMO, "spark"})
MAY_BE_MISSING_IN_CI: Final = frozenset({MySQL.name})  # its packages move from day to day


def fetchers() -> Mapping[str, Callable[[], str]]:
    """Return for every name what makes its files be here and tells their version."""
    return {**{name: kind.fetch for name, kind in SERVERS.items()}, "spark": _fetch_spark}


def _fetch_spark() -> str:
    return f"{len(spark_jars())} jars"
