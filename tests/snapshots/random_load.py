"""Random transactions on the copied tables, the same for each seed."""

import random
import threading

import pymysql

from deploy.embedded import SqlServer

KEYS = 3000
LOCKED = (1205, 1213)
"""Another transaction has the row, or waits for one of this."""


def make_tables(database: SqlServer, schema: str) -> None:
    """Make two tables: a number as key, and a text with a number as key."""
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"create table {schema}.k (id int primary key, n int, v varchar(40))")
        cursor.execute(
            f"create table {schema}.u (a varchar(10) not null, b bigint not null, n int, "
            "unique key (a, b))"
        )
        cursor.executemany(
            f"insert into {schema}.k values (%s, 0, 'first')", [(i,) for i in range(0, KEYS, 2)]
        )
        cursor.executemany(
            f"insert into {schema}.u values (%s, %s, 0)",
            [("AbÄz"[i % 4] * (1 + i % 7), i) for i in range(0, KEYS, 3)],
        )


class RandomLoad:
    """Changes rows until it is ended; the seed says which."""

    def __init__(self, database: SqlServer, schema: str, seed: int) -> None:
        self.transactions = 0
        self._database = database
        self._schema = schema
        self._chance = random.Random(seed)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.failure: Exception | None = None

    def __enter__(self) -> "RandomLoad":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Let the thread end, and raise what it met."""
        self._stop.set()
        self._thread.join()
        if self.failure is not None:
            raise self.failure

    def _run(self) -> None:
        try:
            with self._database.connect() as connection, connection.cursor() as cursor:
                while not self._stop.wait(0.003):
                    try:
                        self._transaction(cursor)
                    except pymysql.err.OperationalError as exc:
                        if exc.args[0] not in LOCKED:
                            raise
                        cursor.execute("rollback")
        except Exception as exc:  # noqa: BLE001 - `end` raises it
            self.failure = exc

    def _transaction(self, cursor: "pymysql.cursors.Cursor") -> None:
        cursor.execute("begin")
        for _ in range(self._chance.choice((1, 1, 1, 2, 5))):
            self._change(cursor)
        cursor.execute(self._chance.choice(("commit", "commit", "commit", "rollback")))
        self.transactions += 1

    def _change(self, cursor: "pymysql.cursors.Cursor") -> None:
        number, other = self._chance.randrange(KEYS), self._chance.randrange(KEYS)
        table = f"{self._schema}.{self._chance.choice('ku')}"
        key = "id" if table.endswith(".k") else "b"
        match self._chance.randrange(5):
            case 0 if key == "id":
                cursor.execute(
                    f"insert ignore into {table} (id, n, v) values ({number}, {other}, 'new')"
                )
            case 0:
                cursor.execute(
                    f"insert ignore into {table} (a, b, n) values ('q', {number}, {other})"
                )
            case 1:
                cursor.execute(f"delete from {table} where {key} = {number}")
            case 2:
                cursor.execute(f"update ignore {table} set {key} = {other} where {key} = {number}")
            case 3:
                cursor.execute(
                    f"update {table} set n = n + 1 where {key} between {number} and {number + 9}"
                )
            case _:
                cursor.execute(f"update {table} set n = {other} where {key} = {number}")
