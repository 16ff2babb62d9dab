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
from deploy.embedded.hbase import HBase, hbase_client_jars
from deploy.embedded.hdfs import Hdfs
from deploy.embedded.java import Java, find_java
from deploy.embedded.kafka import Kafka
from deploy.embedded.kafka_cluster import KafkaCluster
from deploy.embedded.mariadb import DebianMariaDB, MariaDB
from deploy.embedded.mysql import MySQL
from deploy.embedded.mysql_5_6 import MySQL56
from deploy.embedded.process import ServerProcess
from deploy.embedded.spark import spark_environment, spark_jars
from deploy.embedded.sql_server import SqlServer
from deploy.embedded.zookeeper import ZooKeeper

__all__ = [
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
    "SqlServer",
    "Unavailable",
    "ZooKeeper",
    "find_java",
    "hbase_client_jars",
    "spark_environment",
    "spark_jars",
]
