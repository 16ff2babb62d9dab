"""A table that is written and changed while the relay reads: every row must be published under the
column names that it had.
"""

from typing import Any

from pymysql.cursors import DictCursor

from deploy.embedded import Kafka, SqlServer
from tests.support.relays.relay_process import Installation
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until


class Table:
    """A table that is written and changed.

    It keeps the values of each row by column name, as the server returned them at that time.
    """

    def __init__(self, database: SqlServer, installation: Installation, kafka: Kafka) -> None:
        self._database = database
        self._installation = installation
        self._kafka = kafka
        self._number = 0
        self.topic = installation.name
        self.name = f"{installation.name}.t"
        self.expected: dict[str, dict[str, str | None]] = {}

    def run(self, *sqls: str) -> None:
        self._database.execute(*(sql.replace("{t}", self.name) for sql in sqls))

    def move_to(self, database: SqlServer) -> None:
        """Write to another server that has the table."""
        self._database = database

    def row(self) -> None:
        """Write a row and keep it under the present column names."""
        self._number += 1
        with (
            self._database.connect(cursorclass=DictCursor) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute(f"select * from {self.name} limit 0")
            names = [column[0] for column in cursor.description]
            values = ", ".join("%s" for _ in names)
            cursor.execute(
                f"insert into {self.name} values ({values})", [self._value(name) for name in names]
            )
            cursor.execute(f"select * from {self.name} where id = {self._number}")
            (found,) = cursor.fetchall()
        self.expected[str(self._number)] = {
            name: None if value is None else str(value) for name, value in found.items()
        }

    def _value(self, name: str) -> Any:
        kinds = {"id": self._number, "p": f"2026-01-01 00:00:{self._number % 60:02d}.125", "q": "a"}
        return kinds.get(
            name,
            self._number * 100 + len(name)
            if name not in ("y", "v", "w", "late")
            else f"{name}{self._number}",
        )

    def seen(self) -> dict[str, dict[str, str | None]]:
        """Return the rows of consumers by id; of several with one id, the last."""
        messages = sorted(
            read_topic(self._kafka.bootstrap, self.topic), key=lambda each: each.order
        )
        rows = [
            (each.value or {})["data"][0] for each in messages if (each.value or {})["table"] == "t"
        ]
        return {row["id"]: row for row in rows}

    def _all_seen(self) -> bool:
        status = self._installation.status()
        assert status is None or status.state != "STOPPED", status
        return set(self.seen()) == set(self.expected)

    def wait(self) -> None:
        """Wait until every row was published under the column names that it had."""
        wait_until(self._all_seen, f"the rows {sorted(self.expected)}")
        seen = self.seen()
        for number, row in self.expected.items():
            assert _texts(seen[number]) == _texts(row), number


def _texts(row: dict[str, str | None]) -> dict[str, str | None]:
    """The server's text of a time ends with its digits, the driver's with six."""
    return {
        name: cell.removesuffix("000") if cell is not None and cell.startswith("2026-") else cell
        for name, cell in row.items()
    }
