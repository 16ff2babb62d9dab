"""A service in a separate process, which writes a line for each change that it processed.

`python -m tests.support.clients.reading_process FILE JSON`: JSON has the subscription's arguments,
and `pause_seconds` before each change is written. A line is `n id order`; the file shows what was
processed, in its order, also by several processes at once.

With `instance` in the JSON it reads whole transactions, and writes one JSON line for each.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from roma_client import Change, Changes, Subscription, TransactionSubscription


class Line(NamedTuple):
    """One processed change, by which process and when (`time.monotonic`)."""

    pid: int
    at: float
    key: str
    operation: str
    n: str
    order: str


class ReadingProcess:
    """The process and its file."""

    def __init__(self, file: Path, **arguments: Any) -> None:
        command = [sys.executable, "-m", __name__, str(file), json.dumps(arguments)]
        self.log = file.with_suffix(f".{time.time_ns()}.log")
        with self.log.open("wb") as log:
            self._child = subprocess.Popen(command, stdout=log, stderr=log)
        self.pid = self._child.pid

    def check(self) -> None:
        """Raise AssertionError with the end of the log if the process has ended."""
        assert self._child.poll() is None, self.log.read_text()[-3000:]

    def kill(self) -> None:
        self._child.kill()
        self._child.wait(20)

    def signal(self, number: signal.Signals) -> None:
        self._child.send_signal(number)

    def stop(self) -> int:
        """Send SIGTERM, and return the exit code."""
        if self._child.poll() is None:
            self._child.terminate()
        return self._child.wait(30)


@contextmanager
def reading(file: Path, **arguments: Any) -> Iterator[ReadingProcess]:
    """Context manager: run a service, and stop it at the end of the block."""
    process = ReadingProcess(file, **arguments)
    try:
        yield process
    finally:
        process.signal(signal.SIGCONT)
        process.kill()


def lines(file: Path) -> list[Line]:
    """Return what all processes have processed, without a line that a kill truncated."""
    if not file.exists():
        return []
    whole = [each for each in file.read_text().split("\n")[:-1] if each.count("\t") == 5]
    return [
        Line(int(pid), float(at), *rest) for pid, at, *rest in (each.split("\t") for each in whole)
    ]


class SeenTransaction(NamedTuple):
    """One processed transaction. `rows` are tables with the ids of their rows, in their order."""

    pid: int
    id: str | None
    is_whole: bool
    rows: list[list[str]]


def seen_transactions(file: Path) -> list[SeenTransaction]:
    """Return the transactions that all processes have processed, without a line that a kill
    truncated.
    """
    if not file.exists():
        return []
    return [SeenTransaction(*json.loads(each)) for each in file.read_text().split("\n")[:-1]]


def _process_transactions(out: int, pause_seconds: float, arguments: dict[str, Any]) -> None:
    with TransactionSubscription(**arguments) as transactions:
        signal.signal(signal.SIGTERM, lambda *_: transactions.stop())
        for each in transactions:
            time.sleep(pause_seconds)
            rows = [[change.table, str(change.row["id"])] for change in each.changes]
            told = [os.getpid(), each.id, each.is_whole, rows]
            os.write(out, (json.dumps(told) + "\n").encode())


def main() -> None:
    file, arguments = sys.argv[1], json.loads(sys.argv[2])
    pause_seconds = arguments.pop("pause_seconds", 0)
    out = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    if "instance" in arguments:
        _process_transactions(out, pause_seconds, arguments)
        return

    def process(change: Change) -> None:
        time.sleep(pause_seconds)
        told = [
            *(os.getpid(), time.monotonic(), change.key, change.operation.value),
            *(change.row.get("n"), ".".join(map(str, change.order))),
        ]
        os.write(out, ("\t".join(map(str, told)) + "\n").encode())

    def ready(changes: Changes) -> None:
        signal.signal(signal.SIGTERM, lambda *_: changes.stop())

    Subscription(**arguments).run(process, ready=ready)


if __name__ == "__main__":
    main()
