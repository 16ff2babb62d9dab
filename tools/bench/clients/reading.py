"""One reader in a separate process: `python -m tools.bench.clients.reading WAY ROWS JSON`.

Prints the seconds, and the CPU seconds of the process, from its first change to its last one. As a
member of a group (ROWS is 0) it prints a line after every 500 changes, until the process is killed:
the time, the number of changes so far, and the CPU seconds so far.
"""

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, NoReturn

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
    """Return the cost of reading `rows` rows in a separate process.

    way        the kind of reader, one of WAYS
    arguments  arguments of the reader
    """
    told = subprocess.run(
        _command(way, rows, arguments), check=True, stdout=subprocess.PIPE, timeout=_ANSWER_SECONDS
    )
    return Cost(*json.loads(told.stdout))


class Read(NamedTuple):
    """The progress of a member of a group: time, number of rows, and CPU seconds until then."""

    at: float
    rows: int
    cpu_seconds: float


def cost_of_group(way: str, members: int, rows: int, arguments: Mapping[str, Any]) -> Cost:
    """Return the cost of reading `rows` rows by several processes of one consumer group.

    The measurement begins when each member has read changes; rows that were read before that are
    not counted. `way` and `arguments` are as in `cost`.
    """
    found: queue.Queue[tuple[int, Read]] = queue.Queue()
    processes = [
        subprocess.Popen(_command(way, 0, arguments), stdout=subprocess.PIPE)
        for _ in range(members)
    ]
    try:
        for number, process in enumerate(processes):
            threading.Thread(target=_listen, args=(number, process, found), daemon=True).start()
        return _group_cost(members, rows, found)
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _listen(
    number: int, process: "subprocess.Popen[bytes]", found: "queue.Queue[tuple[int, Read]]"
) -> None:
    for line in process.stdout or ():
        found.put((number, Read(*json.loads(line))))


def _group_cost(members: int, rows: int, found: "queue.Queue[tuple[int, Read]]") -> Cost:
    newest: dict[int, Read] = {}
    begun: dict[int, Read] = {}
    while sum(each.rows for each in newest.values()) <= rows - members * _BATCH:
        number, read = found.get(timeout=_ANSWER_SECONDS)
        newest[number] = read
        if not begun and len(newest) == members:
            begun = dict(newest)
    counted = sum(read.rows - begun[number].rows for number, read in newest.items())
    seconds = max(each.at for each in newest.values()) - max(each.at for each in begun.values())
    cpu = sum(read.cpu_seconds - begun[number].cpu_seconds for number, read in newest.items())
    return Cost(seconds / counted * rows, cpu / counted * rows)


def _command(way: str, rows: int, arguments: Mapping[str, Any]) -> list[str]:
    return [sys.executable, "-m", _MODULE, way, str(rows), json.dumps(dict(arguments))]


def _plain(arguments: Mapping[str, Any]) -> Iterator[Any]:
    """Yield parsed rows, and commit once a second, as a service without the client does."""
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
                yield from json.loads(message.value() or b"")["data"]
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
    if rows == 0:
        _read_as_member(reader)
    next(reader)
    began, cpu = time.monotonic(), time.process_time()
    for _ in range(rows - 1):
        next(reader)
    found = Cost(time.monotonic() - began, time.process_time() - cpu)
    sys.stdout.write(json.dumps(found) + "\n")


def _read_as_member(reader: Iterator[Any]) -> NoReturn:
    read = 0
    while True:
        for _ in range(_BATCH):
            next(reader)
        read += _BATCH
        told = Read(time.monotonic(), read, time.process_time())
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
