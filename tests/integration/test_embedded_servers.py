"""The embedded servers start, keep their data and ports over crashes, and show why they died."""

import socket

import pymysql
import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from deploy.embedded import Kafka, SqlServer, ZooKeeper
from tests.servers.fixtures import FreshName


def test_a_database_writes_the_binlog_that_the_relay_needs(database: SqlServer) -> None:
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT @@log_bin, @@binlog_format, @@binlog_row_image, @@binlog_row_metadata, @@binlog_checksum, @@time_zone")
        assert cursor.fetchone() == (1, "ROW", "FULL", "FULL", "CRC32", "+00:00")


def test_the_relays_user_may_replicate_and_read_but_not_write(database: SqlServer, fresh_name: FreshName) -> None:
    schema = fresh_name("grants")
    database.execute(f"CREATE DATABASE {schema}", f"CREATE TABLE {schema}.t (id INT PRIMARY KEY)")
    with database.connect(user="relay") as connection, connection.cursor() as cursor:
        cursor.execute("SHOW BINARY LOGS")
        assert cursor.fetchall()
        cursor.execute(f"SELECT * FROM {schema}.t")
        with pytest.raises(pymysql.err.OperationalError, match="denied"):
            cursor.execute(f"INSERT INTO {schema}.t VALUES (1)")


def test_a_broker_serves_transactions(kafka: Kafka, fresh_name: FreshName) -> None:
    topic = fresh_name("orders")
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})  # its name keeps it alive until the answer
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(30)
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": fresh_name("writer")})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"value")
    producer.commit_transaction(30)
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    message = consumer.poll(30)
    consumer.close()
    assert message is not None
    assert message.value() == b"value"


def test_zookeeper_serves(zookeeper: ZooKeeper) -> None:
    with socket.create_connection((zookeeper.hosts.split(":")[0], zookeeper.port), 5) as connection:
        connection.sendall(b"ruok")
        assert connection.recv(4) == b"imok"
