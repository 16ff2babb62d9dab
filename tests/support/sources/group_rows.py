"""Numbered rows on the servers of a group, and their messages."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from deploy.embedded import Kafka, SqlServer
from tests.support.rows.topic_reading import Seen, read_topic, topic_answers


def member(name: str, server: SqlServer) -> dict[str, Any]:
    return {"name": name, "host": server.host, "port": server.port}


def seen(kafka: Kafka, topic: str) -> list[Seen]:
    """Return every row in the order of the order key."""
    found = read_topic(kafka.bootstrap, topic) if topic_answers(kafka.bootstrap, topic) else []
    return sorted(found, key=lambda each: each.order)


def ids(kafka: Kafka, topic: str) -> list[int]:
    return [int((each.value or {})["data"][0]["id"]) for each in seen(kafka, topic)]


def table_on(server: SqlServer, name: str) -> None:
    """Create the table, with its columns in another order than on the first server."""
    server.execute(
        f"create database {name}",
        f"create table {name}.t (n int, more int, id int primary key, v longtext)",
    )


def insert(server: SqlServer, name: str, *numbers: int) -> None:
    server.execute(*(f"insert into {name}.t (id, n) values ({number}, 1)" for number in numbers))


@contextmanager
def writing(*loads: tuple[SqlServer, str, int], pause_s: float = 0.005) -> Iterator[list[int]]:
    """Insert rows on several servers at the same time, from a number on each.

    The list gets the committed numbers.
    """
    ended, written = threading.Event(), list[int]()

    def load(server: SqlServer, name: str, first: int) -> None:
        with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
            for number in count(first):
                if ended.wait(pause_s):
                    return
                cursor.execute(f"insert into {name}.t (id, n) values ({number}, 1)")
                written.append(number)

    threads = [threading.Thread(target=load, args=each) for each in loads]
    for thread in threads:
        thread.start()
    try:
        yield written
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def assert_one_order(messages: list[Seen]) -> None:
    """Assert that no two rows have the same order key, that both parts of it never decrease, and
    that partitions have their rows in order.
    """
    orders = [each.order for each in messages]
    times, positions = zip(*(map(int, order.split(".")) for order in orders), strict=True)
    assert list(times) == sorted(times)
    assert list(positions) == sorted(set(positions))
    for partition in {each.partition for each in messages}:
        own = [each.offset for each in messages if each.partition == partition]
        assert own == sorted(own)
