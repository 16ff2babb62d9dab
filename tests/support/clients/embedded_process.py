"""A program with embedded changes that is killed.

Its log has a line for each change and each acknowledgement.
"""

import multiprocessing
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from relay import embedded
from relay.settings import SourceSettings
from roma_client import Change


class Line(NamedTuple):
    """A line of the log: `start`, `change`, `ack`; the execute position of the last change."""

    event: str
    position: int
    text: str


def run(arguments: Mapping[str, Any], source: SourceSettings) -> int:
    """Run `program` in a process; return the signal that ended it, 0 for none."""
    account = {
        "host": source.host,
        "port": source.port,
        "user": source.user,
        "password": source.password.get_secret_value(),
        "heartbeat_seconds": 0.2,
    }
    # Processes of a server that has imported the relay already start at once.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    process = context.Process(target=program, args=({**arguments, "source": account},))
    process.start()
    process.join(90)
    ended = process.exitcode
    process.kill()
    assert ended is not None, "it did not end"
    assert ended <= 0, "it failed"
    return -ended


def lines(log: Path) -> list[Line]:
    """Return the lines of the log."""
    found = [each.split("\t") for each in log.read_text().splitlines()]
    return [Line(event, int(position), text) for event, position, text in found]


def program(told: dict[str, Any]) -> None:
    """Log changes until one whose `v` is `ends_with`.

    `told` has the arguments of `embedded.open`, the log, after `every` how many changes it
    acknowledges, and at which change and in which `moment` it kills itself.
    """
    dies_at, moment, every = told.pop("dies_at"), told.pop("moment"), told.pop("every")
    ends_with = told.pop("ends_with")
    log = os.open(told.pop("log"), os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(event: str, at: int, change: Change | None) -> None:
        position = 0 if change is None else change.order.execute_position
        row = "" if change is None else f"{change.operation} {dict(change.row)}"
        os.write(log, f"{event}\t{position}\t{row}\n".encode())
        if (at, event) == (dies_at, moment):
            os.kill(os.getpid(), signal.SIGKILL)

    note("start", 0, None)
    source, tables = told.pop("source"), told.pop("tables")
    with embedded.open(source, tables, **told) as changes:
        for at, change in enumerate(changes, start=1):
            note("change", at, change)
            last = change.row.get("v") == ends_with
            if at % every == 0 or last:
                changes.ack()
                note("ack", at, change)
            if last:
                return
