"""A copy of one table in SQLite, straight from the binlog: no Kafka, no ZooKeeper.

    python examples/embedded_copy.py '{"host": "db", "user": …}' shop.orders copy.db

Rows and position are committed in one transaction of SQLite, so each change is applied once, also
after kill -9. The copy begins with the oldest change that the source's binlog has. It ends with
SIGTERM.
"""

import json
import signal
import sqlite3
import sys
from collections.abc import Mapping
from typing import Any, Final

from relay import embedded
from roma_client import Change

TABLES: Final = """
create table if not exists position (one integer primary key check (one = 1), value blob);
create table if not exists copied (key text primary key, row text, changes integer);
"""
PUT: Final = """
insert into copied values (:key, :row, 1)
on conflict (key) do update set row = :row, changes = changes + 1
"""


def apply(copy: sqlite3.Connection, change: Change) -> None:
    """Write the row as it is now, and count its changes; a deleted row keeps its count."""
    row = None if change.after is None else json.dumps(dict(change.after))
    copy.execute(PUT, {"key": change.key, "row": row})


def store(copy: sqlite3.Connection) -> embedded.PositionCallbacks:
    """Return the store of the position; a save commits what was applied before, too."""

    def load() -> bytes | None:
        found = copy.execute("select value from position").fetchone()
        return None if found is None else found[0]

    def save(position: bytes) -> None:
        copy.execute("insert or replace into position values (1, ?)", (position,))
        copy.commit()

    return embedded.PositionCallbacks(load, save)


def run(source: Mapping[str, Any], table: str, file: str) -> None:
    """Keep the copy up to date until SIGTERM."""
    copy = sqlite3.connect(file)
    copy.executescript(TABLES)
    oldest = {"at": "oldest"}
    with embedded.open(
        source, [table], position=store(copy), start=oldest, values="text"
    ) as changes:
        signal.signal(signal.SIGTERM, lambda *_: changes.close())
        while not changes.closed:
            for change in changes.take(100):
                apply(copy, change)
            changes.ack()


if __name__ == "__main__":
    run(json.loads(sys.argv[1]), sys.argv[2], sys.argv[3])
