"""The embedded servers by name, and those that the demo needs."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from deploy.embedded.cache import cache_folder
from deploy.embedded.class_archives import archive_kafka
from deploy.embedded.fetching.jars import jars
from deploy.embedded.processes.process import ServerProcess
from deploy.embedded.registry import Apicurio
from deploy.embedded.releases import (
    MariaDB101,
    MariaDB102,
    MariaDB105,
    MariaDB118,
    MySQL55,
    MySQL57,
    MySQL8012,
    MySQL8031,
    MySQL8033,
)
from deploy.embedded.servers.hbase import HBase
from deploy.embedded.servers.hdfs import Hdfs
from deploy.embedded.servers.kafka import Kafka
from deploy.embedded.servers.mariadb import DebianMariaDB, MariaDB
from deploy.embedded.servers.mysql import MySQL
from deploy.embedded.servers.mysql_5_6 import MySQL56
from deploy.embedded.servers.prometheus import fetch_promtool
from deploy.embedded.servers.spark import spark_jars
from deploy.embedded.servers.sql_server import SqlServer
from deploy.embedded.servers.zookeeper import ZooKeeper
from deploy.embedded.spark_classes import archive_spark

SERVERS: Final[Mapping[str, type[ServerProcess]]] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            MariaDB,
            ZooKeeper,
            Kafka,
            DebianMariaDB,
            MySQL,
            MySQL56,
            Hdfs,
            HBase,
            Apicurio,
        )
    }  # in the order of starting
)
RELEASES: Final[Mapping[str, type[SqlServer]]] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            MySQL55,
            MySQL57,
            MySQL8012,
            MySQL8031,
            MySQL8033,
            MariaDB101,
            MariaDB102,
            MariaDB105,
            MariaDB118,
        )
    }
)
"""Name → class of the further releases. They are downloaded only if their names are given."""
DEMO: Final = (MariaDB.name, ZooKeeper.name, Kafka.name)
REQUIRED: Final = frozenset({*DEMO, "spark"})
KAFKA_CLASSES: Final = "kafka-classes"
SPARK_ARCHIVE: Final = "spark-classes"
MAY_BE_MISSING_IN_CI: Final = frozenset(
    {MySQL.name, *RELEASES, KAFKA_CLASSES, SPARK_ARCHIVE}
)  # packages of MySQL 9.7 change from day to day; archives of classes only save time


def fetchers() -> Mapping[str, Callable[[], str]]:
    """Return name → function that downloads the server's files and returns their version."""
    return {
        **{name: kind.fetch for name, kind in SERVERS.items()},
        "spark": _fetch_spark,
        "promtool": fetch_promtool,
        "debezium": _fetch_debezium,
        "canal-client": _fetch_canal_client,
        "flink": _fetch_flink,
        KAFKA_CLASSES: archive_kafka,
        SPARK_ARCHIVE: archive_spark,
    }


def release_fetchers() -> Mapping[str, Callable[[], str]]:
    """Return the name of each further release, and the function that fetches it."""
    return {name: kind.fetch for name, kind in RELEASES.items()}


def releases_here() -> list[str]:
    """Return the names of the further releases whose files are in the cache."""
    return [name for name, kind in RELEASES.items() if (cache_folder() / kind.release()).exists()]


def _fetch_debezium() -> str:
    """Debezium's classes, which read messages in tests."""
    return f"{len(list(jars('debezium').glob('*.jar')))} jars"


def _fetch_canal_client() -> str:
    """Canal's Java client, which reads from the Canal server in tests."""
    return f"{len(list(jars('canal-client').glob('*.jar')))} jars"


def _fetch_flink() -> str:
    """Flink SQL with its connector to Kafka, which reads messages in tests."""
    return f"{len(list(jars('flink').glob('*.jar')))} jars"


def _fetch_spark() -> str:
    return f"{len(spark_jars())} jars"
