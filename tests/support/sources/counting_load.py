"""A load on one counter table, whose messages show every loss, repeat and change of order."""

import random
import threading
from collections import Counter

from deploy.embedded import MariaDB, MySQL, SqlServer
from tests.support.relays.relay_process import Installation
from tests.support.rows.topic_reading import Seen

KEYS = 50


class CountingLoad:
    """Small transactions on `<schema>.t(id, n)`: a row's `n` rises by one with each update.

    `changes` counts the rows written.
    """

    def __init__(self, database: MariaDB, schema: str) -> None:
        self.changes = 0
        self._database = database
        self._schema = schema
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "CountingLoad":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def count(self, rows: int) -> None:
        """Add rows that were written, by this load's thread or by another one beside it."""
        with self._lock:
            self.changes += rows

    def end(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        chance = random.Random(7)
        with self._database.connect() as connection, connection.cursor() as cursor:
            cursor.execute(
                f"insert into {self._schema}.t (id, n) values "
                f"{','.join(f'({key}, 0)' for key in range(1, KEYS + 1))}"
            )
            self.count(KEYS)
            while not self._stop.is_set():
                first = chance.randrange(1, KEYS - 2)
                cursor.execute(
                    f"update {self._schema}.t set n = n + 1 where id between {first} and "
                    f"{first + 2}"
                )
                self.count(3)
                self._stop.wait(0.002)


def binlog_end(database: SqlServer) -> tuple[str, int]:
    """Return the end of the binlog."""
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(
            "show binary log status" if isinstance(database, MySQL) else "show master status"
        )
        row = cursor.fetchone()
    assert row is not None
    return str(row[0]), int(row[1])


def published_end(installation: Installation) -> tuple[str, int]:
    """Return the published position of the instance; of a group, that of its first source."""
    status = installation.status()
    if status is None:
        return "", 0
    file, _, offset = status.sources.get(
        "first", f"{status.position_file}:{status.position_offset}"
    ).rpartition(":")
    return file, int(offset)


def assert_exactly_once(
    seen: list[Seen], load: CountingLoad, database: MariaDB, schema: str
) -> None:
    """Assert that every written change is visible once and in order, and that the table agrees."""
    assert len(seen) == load.changes, f"{len(seen)} published, {load.changes} written"
    assert_in_order(seen)
    per_key = Counter(each.key for each in seen)
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"select id, n from {schema}.t")
        for number, value in cursor.fetchall():
            assert per_key[f'["{schema}.t","{number}"]'.encode()] == value + 1


def assert_in_order(seen: list[Seen]) -> None:
    """Assert that each key's `n` rises by one, and that `order` rises in every partition."""
    counts: dict[bytes, int] = {}
    orders: dict[int, str] = {}
    for each in seen:
        assert each.value is not None
        assert each.key is not None
        value = int(each.value["data"][0]["n"])
        assert value == counts.get(each.key, -1) + 1
        counts[each.key] = value
        assert each.order > orders.get(each.partition, "")
        orders[each.partition] = each.order
