"""The embedded servers start, keep their data and ports over crashes, and show why they died."""

import itertools
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import psutil
import pymysql
import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from deploy.embedded import DebianMariaDB, Kafka, MariaDB, MySQL, ServerDied, SqlServer, ZooKeeper
from tests.servers.fixtures import FreshName

_ROOT: Final = Path(__file__).parents[3]


def test_a_database_writes_the_binlog_that_the_relay_needs(database: SqlServer) -> None:
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT @@log_bin, @@binlog_format, @@binlog_row_image, @@binlog_row_metadata, "
            "@@binlog_checksum, @@time_zone"
        )
        assert cursor.fetchone() == (1, "ROW", "FULL", "FULL", "CRC32", "+00:00")


def test_the_relays_user_may_replicate_and_read_but_not_write(
    database: SqlServer, fresh_name: FreshName
) -> None:
    schema = fresh_name("grants")
    database.execute(f"CREATE DATABASE {schema}", f"CREATE TABLE {schema}.t (id INT PRIMARY KEY)")
    with database.connect(user="relay") as connection, connection.cursor() as cursor:
        cursor.execute("SHOW BINARY LOGS")
        assert cursor.fetchall()
        cursor.execute(f"SELECT * FROM {schema}.t")
        with pytest.raises(pymysql.err.OperationalError, match="denied"):
            cursor.execute(f"INSERT INTO {schema}.t VALUES (1)")


def test_a_databases_temporary_files_lie_apart_from_those_of_others(database: SqlServer) -> None:
    assert _one(database, "SELECT @@tmpdir") == (str(database.temporary),)


def test_a_broker_serves_transactions(kafka: Kafka, fresh_name: FreshName) -> None:
    topic = fresh_name("orders")
    admin = AdminClient(
        {"bootstrap.servers": kafka.bootstrap}
    )  # its name keeps it alive until the answer
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(60)
    producer = Producer(
        {"bootstrap.servers": kafka.bootstrap, "transactional.id": fresh_name("writer")}
    )
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"value")
    producer.commit_transaction(30)
    consumer = Consumer(
        {"bootstrap.servers": kafka.bootstrap, "group.id": topic, "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([topic])
    message = consumer.poll(30)
    consumer.close()
    assert message is not None
    assert message.value() == b"value"


def test_zookeeper_serves(zookeeper: ZooKeeper) -> None:
    with socket.create_connection((zookeeper.hosts.split(":")[0], zookeeper.port), 5) as connection:
        connection.sendall(b"ruok")
        assert connection.recv(4) == b"imok"


def test_a_killed_database_comes_back_with_its_rows_port_and_identity(
    new_mariadb: Callable[..., MariaDB],
) -> None:
    server = new_mariadb({"binlog_row_image": "MINIMAL"})
    server.execute(
        "CREATE DATABASE kept",
        "CREATE TABLE kept.t (id INT PRIMARY KEY)",
        "INSERT INTO kept.t VALUES (1)",
    )
    port, asked = (
        server.port,
        "SELECT @@server_id, @@binlog_row_image, (SELECT COUNT(*) FROM kept.t)",
    )
    before = _one(server, asked)
    server.kill()
    server.start()
    assert server.port == port
    assert _one(server, asked) == before == (server.port, "MINIMAL", 1)


def test_two_servers_of_one_template_are_strangers(
    mysql_9: MySQL, new_mysql: Callable[..., MySQL]
) -> None:
    other = new_mysql()
    assert _one(mysql_9, "SELECT @@server_uuid") != _one(other, "SELECT @@server_uuid")
    assert _one(mysql_9, "SELECT @@server_id") != _one(other, "SELECT @@server_id")


def test_a_fresh_database_has_no_history(new_mariadb_10_11: Callable[..., DebianMariaDB]) -> None:
    assert _one(new_mariadb_10_11(), "SELECT @@gtid_binlog_pos") == ("",)


def test_a_killed_broker_comes_back_soon_with_its_topics(
    new_kafka: Callable[..., Kafka], fresh_name: FreshName
) -> None:
    broker, topic = new_kafka({"log.segment.bytes": 1048576}, heap="512m"), fresh_name("kept")
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic(topic, 3, 1)])[topic].result(60)
    broker.kill()
    broker.start()
    assert broker.start_seconds < 30
    again = AdminClient({"bootstrap.servers": broker.bootstrap})
    assert len(again.list_topics(topic, timeout=30).topics[topic].partitions) == 3


def test_a_refused_option_shows_what_the_server_said(new_mariadb: Callable[..., MariaDB]) -> None:
    with pytest.raises(ServerDied, match="unknown variable 'frobnicate=1'"):
        new_mariadb({"frobnicate": 1})


@pytest.mark.skipif(os.geteuid() != 0, reason="another host name and no network need root")
def test_servers_start_without_network_under_a_host_name_that_does_not_resolve(
    mariadb: MariaDB, kafka: Kafka, zookeeper: ZooKeeper
) -> None:
    """The shared fixtures have fetched everything; so nothing but loopback may be needed."""
    start = (
        "hostname does-not-resolve.invalid && ip link set lo up && exec timeout --signal=INT 60 "
        '"$0" -m deploy.embedded up'
    )
    command = ["unshare", "--uts", "--net", "bash", "-c", start, sys.executable]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=_ROOT
    ) as up:
        assert up.stdout is not None
        assert up.stderr is not None
        names = [line.split()[0] for line in itertools.islice(up.stdout, 3)]
        os.kill(psutil.Process(up.pid).children()[0].pid, signal.SIGTERM)
        said = up.stderr.read()
    assert names == ["mariadb-11.4", "zookeeper", "kafka"]
    assert (
        "mariadb-11.4: user and password repl may do everything, relay what a relay needs" in said
    )
    assert [line for line in said.splitlines() if "stopping" in line] == [
        "stopping kafka",
        "stopping zookeeper",
        "stopping mariadb-11.4",
    ]


def test_fetching_again_touches_no_network(mariadb: MariaDB, kafka: Kafka) -> None:
    """A repository and proxies that lead nowhere would make any request fail."""
    nowhere = {
        "ROMA_MAVEN_REPOSITORY": "http://127.0.0.1:1/",
        "http_proxy": "http://127.0.0.1:1",
        "https_proxy": "http://127.0.0.1:1",
    }
    command = [
        sys.executable,
        "-m",
        "deploy.embedded",
        "fetch",
        "--only",
        "mariadb-11.4",
        "--only",
        "kafka",
        "--only",
        "zookeeper",
    ]
    ran = subprocess.run(
        command,
        env=os.environ | nowhere,
        capture_output=True,
        text=True,
        cwd=_ROOT,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "fetching" not in ran.stderr


def test_a_repository_that_does_not_answer_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    nowhere = {
        "ROMA_MAVEN_REPOSITORY": "http://127.0.0.1:1/",
        "ROMA_CACHE": str(tmp_path / "a cache (new)"),
    }
    command = [sys.executable, "-m", "deploy.embedded", "fetch", "--only", "spark"]
    ran = subprocess.run(
        command,
        env=os.environ | nowhere,
        capture_output=True,
        text=True,
        cwd=_ROOT,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 1
    assert "io.delta:delta-spark_2.13:4.0.0" in ran.stderr
    assert "ROMA_MAVEN_REPOSITORY" in ran.stderr
    assert not list((tmp_path / "a cache (new)" / "jars").glob("spark-*[0-9a-f]"))


def _one(server: SqlServer, sql: str) -> tuple[object, ...]:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        row: tuple[object, ...] = cursor.fetchone()
    return row
