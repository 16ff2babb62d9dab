"""A load that reconnects after a crash of its server. Its table shows the committed changes."""

import random
import threading
from typing import TYPE_CHECKING, Any, Final

import pymysql

from deploy.embedded import SqlServer

if TYPE_CHECKING:
    from pymysql.connections import Connection

KEYS: Final = 50
_CHANGES: Final = 3
_LONG_ROUNDS: Final = 40
_RETRY_S: Final = 0.1


class Load:
    """Small transactions of three changes on `<schema>.t(id, n, v)`, about `rate` changes a second.

    The column `n` of a row is the number of its changes. With `long_every` = k, every k-th
    transaction changes every row forty times.
    """

    def __init__(
        self, database: SqlServer, schema: str, seed: int, rate: float = 1000, long_every: int = 0
    ) -> None:
        self._database = database
        self._schema = schema
        self._chance = random.Random(seed)
        self._pause_s = _CHANGES / rate
        self._long_every = long_every
        self._transactions = 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="load")

    def __enter__(self) -> "Load":
        rows = ",".join(f"({key}, 0)" for key in range(1, KEYS + 1))
        self._database.execute(f"insert into {self._schema}.t (id, n) values {rows}")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def move(self, database: SqlServer) -> None:
        """Write to another server from the next connection on."""
        self._database = database

    def end(self) -> None:
        """Stop writing; return when the last transaction is committed or lost."""
        self._end.set()
        self._thread.join(60)

    def _run(self) -> None:
        while not self._end.is_set():
            try:
                with (
                    self._database.connect(read_timeout=10, write_timeout=10) as connection,
                    connection.cursor() as cursor,
                ):
                    while not self._end.is_set():
                        self._transactions += 1
                        if self._long_every and self._transactions % self._long_every == 0:
                            self._change_all(connection)
                        first = self._chance.randrange(1, KEYS - _CHANGES + 2)
                        cursor.execute(
                            f"update {self._schema}.t set n = n + 1 where id between {first} and "
                            f"{first + _CHANGES - 1}"
                        )
                        self._end.wait(self._pause_s)
            except pymysql.err.Error:
                self._end.wait(_RETRY_S)

    def _change_all(self, connection: "Connection[Any]") -> None:
        """Run one transaction of `KEYS * _LONG_ROUNDS` changes."""
        connection.begin()
        with connection.cursor() as cursor:
            for _ in range(_LONG_ROUNDS):
                cursor.execute(
                    f"update {self._schema}.t set n = n + 1 where id between 1 and {KEYS}"
                )
        connection.commit()


def held(database: SqlServer, schema: str) -> dict[int, int]:
    """Return how often each row was changed, from the table."""
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"select id, n from {schema}.t where n is not null")
        return {int(key): int(n) for key, n in cursor.fetchall()}
