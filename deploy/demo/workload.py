"""The workload of the shops: inserts, updates, deletes, a key change, multi-row statements, a
rolled-back savepoint, a DDL.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from time import monotonic
from typing import Any, Final

from pymysql.cursors import Cursor

from deploy.demo.mapping import SHARDS
from deploy.embedded import SqlServer

CUSTOMERS: Final = 1_000
"""Customers of one shard at the start."""
ORDERS: Final = 5_000
"""Orders of one shard at the start."""
_ROWS_A_STATEMENT: Final = 250
_KEY_STEP: Final = 1_000_000  # keys are unique over the shards

_USERS: Final = (
    "(id BIGINT PRIMARY KEY, name VARCHAR(60) NOT NULL, born DATE, points INT UNSIGNED NOT NULL "
    "DEFAULT 0)"
)
_ORDERS: Final = """(
    id BIGINT PRIMARY KEY, customer BIGINT NOT NULL, state ENUM('new', 'paid', 'sent') NOT NULL,
    amount DECIMAL(12,2) NOT NULL,
    placed_at DATETIME(3) NOT NULL, note VARCHAR(200)
)"""


def _customers(first: int) -> Iterator[str]:
    return (
        f"({first + i}, 'customer {i}', '2001-01-{i % 28 + 1:02}', {i})"
        for i in range(1, CUSTOMERS)
    )


def _orders(first: int) -> Iterator[str]:
    placed_at = "'2026-01-01 10:00:00."
    return (
        (f"({first + i}, {first + i % CUSTOMERS}, 'new', {i}.50, {placed_at}{i % 1000:03}', NULL)")
        for i in range(ORDERS)
    )


class Shop:
    """The application of the demo, which writes to all shards.

    `messages` counts the row changes that a consumer must receive, by the rules of the relay.
    """

    def __init__(self, database: SqlServer) -> None:
        self.messages = 0
        self._database = database

    def open(self) -> None:
        """Create the shards, with empty tables."""
        for number, shard in enumerate(SHARDS, 1):
            tables = (
                f"CREATE TABLE {shard}.user_{number:02} {_USERS}",
                f"CREATE TABLE {shard}.orders_{number:02} {_ORDERS}",
            )
            self._database.execute(f"CREATE DATABASE {shard}", *tables)

    def first_customers(self) -> None:
        """Insert one customer into each shard: the first rows."""
        for number, shard in enumerate(SHARDS, 1):
            self._write(
                shard,
                (
                    f"INSERT INTO user_{number:02} VALUES ({number * _KEY_STEP}, 'Zoë Müller', "
                    f"'1990-02-28', 1)"
                ),
            )

    def busy_hour(self) -> None:
        """Run all kinds of changes as fast as the server accepts them, on all shards at the same
        time.
        """
        threads = [
            threading.Thread(target=self._shard, args=(number, shard))
            for number, shard in enumerate(SHARDS, 1)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def live(self, orders: int, per_second: float) -> dict[str, float]:
        """Insert orders one by one; return note of the order → monotonic seconds of its commit."""
        committed: dict[str, float] = {}
        pace = threading.Event()
        with self._session(SHARDS[0]) as cursor:
            for number in range(orders):
                note = f"live {number}"
                cursor.execute(
                    f"INSERT INTO orders_01 VALUES ({9 * _KEY_STEP + number}, 1, 'new', 9.90, "
                    f"NOW(3), '{note}', NULL)"
                )
                committed[note] = monotonic()
                self.messages += 1
                pace.wait(1 / per_second)
        return committed

    def _shard(self, number: int, shard: str) -> None:
        first, n = number * _KEY_STEP, f"{number:02}"
        with self._session(shard) as cursor:
            self._many(cursor, f"INSERT INTO user_{n} VALUES ", _customers(first))
            self._many(cursor, f"INSERT INTO orders_{n} VALUES ", _orders(first))
            self._run(cursor, f"UPDATE orders_{n} SET state = 'paid' WHERE id % 3 = 0")
            self._run(
                cursor, f"ALTER TABLE orders_{n} ADD COLUMN coupon VARCHAR(20)", counted=False
            )
            self._run(
                cursor,
                f"UPDATE orders_{n} SET state = 'sent', coupon = CONCAT('C', id) WHERE id % 9 = 0",
            )
            self._run(cursor, f"DELETE FROM orders_{n} WHERE id % 10 = 7")
            self._run(
                cursor,
                f"UPDATE user_{n} SET id = id + {_KEY_STEP // 2} WHERE id % 100 = 5",
                messages_a_row=2,
            )
            self._savepoint(cursor, n)

    def _savepoint(self, cursor: Cursor, n: str) -> None:
        cursor.execute("BEGIN")
        self._run(cursor, f"UPDATE user_{n} SET points = points + 1 WHERE id % 50 = 1")
        cursor.execute("SAVEPOINT before_the_mistake")
        cursor.execute(f"DELETE FROM user_{n}")
        cursor.execute("ROLLBACK TO SAVEPOINT before_the_mistake")
        cursor.execute("COMMIT")

    def _many(self, cursor: Cursor, statement: str, rows: Iterator[str]) -> None:
        while some := ",".join(islice(rows, _ROWS_A_STATEMENT)):
            self._run(cursor, statement + some)

    def _run(
        self, cursor: Cursor, statement: str, *, messages_a_row: int = 1, counted: bool = True
    ) -> None:
        rows = cursor.execute(statement)
        if counted:
            with _counting:
                self.messages += messages_a_row * rows

    def _write(self, shard: str, statement: str) -> None:
        with self._session(shard) as cursor:
            self._run(cursor, statement)

    @contextmanager
    def _session(self, shard: str) -> Iterator[Cursor]:
        connection: Any = self._database.connect(database=shard)
        with connection, connection.cursor() as cursor:
            yield cursor


_counting: Final = threading.Lock()
