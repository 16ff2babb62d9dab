"""One reader in a process of its own: `python -m tools.bench.clients.reading WAY ROWS JSON`.

Prints the seconds, and the CPU seconds of the process, from its first change to its last one.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from confluent_kafka import Consumer

from roma_client import Subscription

_MODULE: Final = "tools.bench.clients.reading"
_BATCH: Final = 500
_COMMIT_SECONDS: Final = 1.0
_ANSWER_SECONDS: Final = 600.0


class Cost(NamedTuple):
    """Seconds and CPU seconds that a reader took."""

    seconds: float
    cpu_seconds: float


def cost(way: str, rows: int, arguments: Mapping[str, Any]) -> Cost:
    """Let a process read so many rows in this way."""
    command = [sys.executable, "-m", _MODULE, way, str(rows), json.dumps(dict(arguments))]
    told = subprocess.run(command, check=True, capture_output=True, timeout=_ANSWER_SECONDS)
    return Cost(*json.loads(told.stdout))


def _plain(arguments: Mapping[str, Any]) -> Iterator[Any]:
    """Yield parsed values, and commit once a second, as a service without the client does."""
    config = {
        "bootstrap.servers": arguments["bootstrap"],
        "group.id": arguments["group"],
        "auto.offset.reset": "earliest",
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
    }
    consumer = Consumer(config)
    consumer.subscribe([arguments["topic"]])
    due = time.monotonic() + _COMMIT_SECONDS
    while True:
        for message in consumer.consume(_BATCH, 0.5):
            if message.error() is None and message.value() is not None:
                yield json.loads(message.value() or b"")
        if time.monotonic() >= due:
            consumer.commit(asynchronous=True)
            due = time.monotonic() + _COMMIT_SECONDS


def _subscribed(arguments: Mapping[str, Any]) -> Iterator[Any]:
    own = {name: arguments[name] for name in ("database", "table", "group", "admin", "token")}
    with Subscription(**own, cache=arguments["cache"]) as changes:
        yield from changes


def _with_values(arguments: Mapping[str, Any]) -> Iterator[Any]:
    for change in _subscribed(arguments):
        yield change.row


PLAIN: Final = "plain consumer"
CLIENT: Final = "roma_client"
VALUES: Final = "roma_client, values read"
WAYS: Final[Mapping[str, Callable[[Mapping[str, Any]], Iterator[Any]]]] = MappingProxyType(
    {PLAIN: _plain, CLIENT: _subscribed, VALUES: _with_values}
)


def main() -> None:
    """Read all rows, and print the cost as JSON."""
    way, rows, arguments = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
    reader = WAYS[way](arguments)
    next(reader)
    began, cpu = time.monotonic(), time.process_time()
    for _ in range(rows - 1):
        next(reader)
    found = Cost(time.monotonic() - began, time.process_time() - cpu)
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
