"""Real servers as child processes on loopback, for tests and the demo."""

from deploy.embedded.errors import (
    ChecksumMismatch,
    EmbeddedError,
    FetchFailed,
    JavaMissing,
    NotReady,
    ServerDied,
    Unavailable,
)
from deploy.embedded.processes.java import Java, find_java
from deploy.embedded.processes.process import ServerProcess
from deploy.embedded.registry import Apicurio
from deploy.embedded.servers.hbase import HBase, hbase_client_jars
from deploy.embedded.servers.hdfs import Hdfs
from deploy.embedded.servers.kafka import Kafka
from deploy.embedded.servers.kafka_cluster import KafkaCluster
from deploy.embedded.servers.mariadb import DebianMariaDB, MariaDB
from deploy.embedded.servers.mysql import MySQL
from deploy.embedded.servers.mysql_5_6 import MySQL56
from deploy.embedded.servers.server_tls import ServerTls
from deploy.embedded.servers.spark import spark_environment, spark_jars
from deploy.embedded.servers.sql_server import SqlServer
from deploy.embedded.servers.zookeeper import ZooKeeper

__all__ = [
    "Apicurio",
    "ChecksumMismatch",
    "DebianMariaDB",
    "EmbeddedError",
    "FetchFailed",
    "HBase",
    "Hdfs",
    "Java",
    "JavaMissing",
    "Kafka",
    "KafkaCluster",
    "MariaDB",
    "MySQL",
    "MySQL56",
    "NotReady",
    "ServerDied",
    "ServerProcess",
    "ServerTls",
    "SqlServer",
    "Unavailable",
    "ZooKeeper",
    "find_java",
    "hbase_client_jars",
    "spark_environment",
    "spark_jars",
]
