"""A service with an inbox, which kills itself: `python -m tests.support.clients.inbox_process
JSON`.

The JSON has the driver and its arguments, and at which change the process kills itself, with signal
9, inside the effect or directly after the commit. It applies all changes from the first one, as a
service does whose acknowledgements were lost.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import psycopg
import pymysql

from relay.testing import MessageMaker
from roma_client import Change
from roma_client.inbox import Inbox, Key
from roma_client.testing import Subscribed, changes_from

CHANGES: Final = 12
DRIVERS: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {"sqlite3": sqlite3.connect, "pymysql": pymysql.connect, "psycopg": psycopg.connect}
)


def made_changes(count: int = CHANGES) -> list[Change]:
    """Changes of one partition: the row `at` modulo 3 is inserted."""
    orders = MessageMaker("shop", "orders", {"id": "int"}, key=["id"])
    messages = [orders.insert({"id": str(at % 3)}) for at in range(count)]
    return changes_from(messages, Subscribed("shop", "orders"))


def run(driver: str, arguments: Mapping[str, Any], **more: Any) -> int:
    """Run a service; return the signal that ended it, 0 for none."""
    told = json.dumps({"driver": driver, "arguments": dict(arguments), **more})
    ran = subprocess.run([sys.executable, "-m", __name__, told], check=False, timeout=60)
    assert ran.returncode <= 0, "it failed"
    return -ran.returncode


def survived(driver: str, arguments: Mapping[str, Any], by: Key) -> None:
    """Apply the changes with kills in the effect and after the commit."""
    for at in (2, CHANGES - 1):
        for moment in ("effect", "commit"):
            killed = run(driver, arguments, by=by, die_at=at, moment=moment)
            assert killed in {signal.SIGKILL, 0}, "what was applied before is not applied again"
            assert killed == signal.SIGKILL or moment == "commit"
    assert run(driver, arguments, by=by, die_at=-1, moment="") == 0


def main() -> None:
    told = json.loads(sys.argv[1])
    connection = DRIVERS[told["driver"]](**told["arguments"])
    inbox = Inbox(connection, "billing", by=told["by"])
    for at, change in enumerate(made_changes()):

        def effect(cursor: Any, change: Change, at: int = at) -> None:
            cursor.execute("update counted set n = n + 1")
            cursor.execute(f"insert into applied values ({at}, {change.row['id']})")
            if (at, "effect") == (told["die_at"], told["moment"]):
                os.kill(os.getpid(), signal.SIGKILL)

        if inbox.apply(change, effect) and (at, "commit") == (told["die_at"], told["moment"]):
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
