"""A service with one kind of client, in a separate process: writes a line for each unit of work.

`python -m tools.clients.service KIND FILE JSON`: JSON has the subscription's arguments. A line is a
JSON list: pid, begin (`time.monotonic`), and the rows as pairs of id and `n`. The kind `inbox`
also applies each change to the SQLite database beside the file, exactly once.
"""

import json
import logging
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from roma_client import Change, Changes, Subscription, TransactionSubscription
from roma_client.inbox import Inbox
from tools.clients.judging import Work

Kind: TypeAlias = Literal["group", "exclusive", "workers", "inbox", "transactions"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
_WORKERS: Final = 4
_MODULE: Final = "tools.clients.service"
_OPEN: Final = "service_open"
_FENCED: Final = ("commit_refused", "partitions_lost", "acknowledgement_void")


class Service:
    """The process of one service. Its log is in the same folder as its file."""

    def __init__(self, kind: Kind, file: Path, number: int, arguments: dict[str, Any]) -> None:
        command = [sys.executable, "-m", _MODULE, kind, str(file), json.dumps(arguments)]
        self.log = file.with_suffix(f".{number}.log")
        with self.log.open("wb") as log:
            self._child = subprocess.Popen(command, stdout=log, stderr=log)
        self.pid = self._child.pid

    @property
    def is_fenced(self) -> bool:
        """Return whether its log has a refused commit, or partitions that were lost."""
        text = self.log.read_text(errors="replace")
        return any(each in text for each in _FENCED)

    @property
    def is_open(self) -> bool:
        """Return whether its subscription is open."""
        return _OPEN in self.log.read_text(errors="replace")

    def check(self) -> None:
        """Raise AssertionError with the end of its log if it has ended."""
        code = self._child.poll()
        assert code is None, f"client {self.pid} ended with {code}: {self.tail()}"

    def tail(self) -> str:
        """Return the end of its log."""
        return self.log.read_text(errors="replace")[-3000:]

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        self._child.kill()
        self._child.wait(20)

    def signal(self, number: signal.Signals) -> None:
        """Send the process a signal."""
        self._child.send_signal(number)

    def ask_to_stop(self) -> None:
        """Send SIGTERM to the process."""
        self._child.terminate()

    def wait(self, seconds: float) -> None:
        """Wait for the end of the process. Raises AssertionError if its exit code shows an error.

        SIGTERM ends a process that has not opened its subscription yet.
        """
        code = self._child.wait(seconds)
        assert code in {0, -signal.SIGTERM}, f"client {self.pid} ended with {code}: {self.tail()}"


def applied(file: Path) -> list[tuple[int, int]]:
    """Return what the inboxes of services with this file applied, in order."""
    with sqlite3.connect(_database_of(file), timeout=30) as database:
        return database.execute("select id, n from applied order by at").fetchall()


def make_database(file: Path) -> None:
    """Make the database of services with the kind `inbox`."""
    with sqlite3.connect(_database_of(file), timeout=30) as database:
        database.execute(
            "create table applied (at integer primary key autoincrement, id int, n int, "
            "unique (id, n))"
        )


def _database_of(file: Path) -> Path:
    return file.with_suffix(".sqlite")


class _Out:
    """The file. Lines are written as a whole, also by several processes and threads."""

    def __init__(self, file: str) -> None:
        self._file = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def write(self, began: float, rows: list[Change]) -> None:
        """Write one line."""
        values = [(int(each.row["id"]), int(each.row["n"])) for each in rows]
        told = json.dumps(Work(os.getpid(), began, values))
        os.write(self._file, (told + "\n").encode())


def _plain(file: str) -> Callable[[Change], None]:
    out = _Out(file)
    return lambda change: out.write(time.monotonic(), [change])


def _with_inbox(file: str) -> Callable[[Change], None]:
    out = _Out(file)
    own = threading.local()

    def effect(cursor: Any, change: Change) -> None:
        values = (int(change.row["id"]), int(change.row["n"]))
        cursor.execute("insert into applied (id, n) values (?, ?)", values)

    def process(change: Change) -> None:
        began = time.monotonic()
        if not hasattr(own, "inbox"):
            own.inbox = Inbox(sqlite3.connect(_database_of(Path(file)), timeout=30), "service")
        own.inbox.apply(change, effect)
        out.write(began, [change])

    return process


def _process_transactions(file: str, arguments: dict[str, Any]) -> None:
    out = _Out(file)
    with TransactionSubscription(**arguments) as transactions:
        signal.signal(signal.SIGTERM, lambda *_: transactions.stop())
        logging.info(_OPEN)
        for each in transactions:
            out.write(time.monotonic(), list(each.changes))


def main() -> None:
    """Run the service until SIGTERM."""
    kind, file, arguments = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    if kind == "transactions":
        _process_transactions(file, arguments)
        return

    def ready(changes: Changes) -> None:
        signal.signal(signal.SIGTERM, lambda *_: changes.stop())
        logging.info(_OPEN)

    more = {"workers": _WORKERS} if kind == "workers" else {"exclusive": kind == "exclusive"}
    process = _with_inbox(file) if kind == "inbox" else _plain(file)
    Subscription(**arguments, **more).run(process, ready=ready)


if __name__ == "__main__":
    main()
