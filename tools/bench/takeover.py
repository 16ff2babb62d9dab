"""Measures how long consumers wait when a relay is killed, stopped, or asked to hand over: `python
-m tools.bench.takeover --help`.

Two relays, a steady load of one small transaction every few milliseconds, and one consumer that
reads committed. The figure is the longest time without a message after the event: from the last
message before the takeover to the first one after it. At the end all messages are counted: none may
be lost or repeated.
"""

import argparse
import itertools
import statistics
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from time import monotonic, time
from typing import Final

from confluent_kafka import Consumer

from deploy.embedded import Kafka, MariaDB, ZooKeeper
from relay.state import Note
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.sources.counting_load import (
    CountingLoad,
    assert_exactly_once,
    binlog_end,
    published_end,
)
from tests.support.waiting import wait_until

_NAME: Final = "takeover"
_WATCHED_SECONDS: Final = 12.0
_QUIET_SECONDS: Final = 0.7
"""Seconds that the stream must flow before an event."""
_LATE_SECONDS: Final = 1.0
Event = Callable[[Installation, RelayProcess, RelayProcess], None]


class Arrivals:
    """The arrival times of messages at a read_committed consumer."""

    def __init__(self, bootstrap: str) -> None:
        self.last_s = monotonic()
        self.silence_s = 0.0
        self._bootstrap = bootstrap
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="arrivals")

    def __enter__(self) -> "Arrivals":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def watch(self) -> None:
        """Begin to measure the longest time without a message."""
        self.silence_s = 0.0

    def _run(self) -> None:
        settings = {
            "bootstrap.servers": self._bootstrap,
            "group.id": "arrivals",
            "auto.offset.reset": "latest",
            "fetch.wait.max.ms": 20,
        }
        with closing(Consumer(settings)) as consumer:
            consumer.subscribe([_NAME])
            while not self._stop.is_set():
                message = consumer.poll(0.1)
                if message is not None and message.error() is None:
                    now_s = monotonic()
                    self.silence_s = max(self.silence_s, now_s - self.last_s)
                    self.last_s = now_s


def kill(_: Installation, leader: RelayProcess, _standby: RelayProcess) -> None:
    """Kill the leader: the standby leads when ZooKeeper ends the leader's session."""
    leader.kill()


def stop(_: Installation, leader: RelayProcess, _standby: RelayProcess) -> None:
    """Stop the leader by SIGTERM: it ends its ZooKeeper session itself. Its exit code must be 0."""
    assert leader.stop() == 0


def move(installation: Installation, _leader: RelayProcess, standby: RelayProcess) -> None:
    """Order the hand-over to the standby, as `roma placement move` does."""
    installation.overrides.hand_over(
        "shop", standby.label, Note("bench", "move", int(time() * 1000))
    )


EVENTS: Final[dict[str, Event]] = {"kill -9": kill, "clean stop": stop, "requested move": move}


def measure(
    names: Sequence[str], times: int, tick_ms: int, session_timeout_seconds: float
) -> tuple[dict[str, list[float]], int]:
    """Cause each event `times` times. Return event → the longest time in seconds without a message
    after each, and the granted session timeout in milliseconds.

    names    events, keys of EVENTS
    tick_ms  ZooKeeper's tickTime in milliseconds
    """
    silences: dict[str, list[float]] = {name: [] for name in names}
    with _servers(tick_ms) as (database, kafka, zookeeper), tempfile.TemporaryDirectory() as folder:
        installation = _installation(
            Path(folder), database, kafka, zookeeper, session_timeout_seconds
        )
        relays = [RelayProcess(installation, name, SERVER=name) for name in ("first", "second")]
        with ExitStack() as stack:
            stack.callback(installation.close)
            for relay in relays:
                stack.enter_context(relay)
            _roles(installation, relays)[0].wait_for("RUNNING")
            load = stack.enter_context(CountingLoad(database, _NAME))
            arrivals = stack.enter_context(Arrivals(kafka.bootstrap))
            for _, name in itertools.product(range(times), names):
                silences[name].append(_once(EVENTS[name], installation, relays, arrivals))
            granted_ms = installation.membership.members()[0].session_timeout_ms
            load.end()
            wait_until(lambda: published_end(installation) == binlog_end(database), "the end", 60)
        assert_exactly_once(read_topic(kafka.bootstrap, _NAME), load, database, _NAME)
    return silences, granted_ms


def _once(
    event: Event, installation: Installation, relays: list[RelayProcess], arrivals: Arrivals
) -> float:
    """Run the event on the leader; a relay that ended is started again before this returns."""
    leader, standby = _roles(installation, relays)
    flowing_s = monotonic()
    wait_until(
        lambda: monotonic() - flowing_s > _QUIET_SECONDS and monotonic() - arrivals.last_s < 0.05,
        "a stream that flows",
    )
    arrivals.watch()
    event(installation, leader, standby)
    wait_until(
        lambda: installation.membership.leaders().get("shop", "").endswith(f"-{standby.pid}"),
        "the takeover",
        _WATCHED_SECONDS,
    )
    # Messages of the former leader may still arrive; after this pause only those of the new one.
    threading.Event().wait(_LATE_SECONDS)
    wait_until(lambda: monotonic() - arrivals.last_s < 0.05, "messages again", _WATCHED_SECONDS)
    silence_s = arrivals.silence_s
    installation.overrides.withdraw_hand_over("shop")
    if leader.ended:
        leader.start()
    return silence_s


def _roles(
    installation: Installation, relays: list[RelayProcess]
) -> tuple[RelayProcess, RelayProcess]:
    """Return leader and standby, once both run and the standby has made its checks."""
    wait_until(lambda: _both_there(installation, relays), "two relays", 60)
    leader = installation.membership.leaders()["shop"]
    first, second = relays
    return (first, second) if leader.endswith(f"-{first.pid}") else (second, first)


def _both_there(installation: Installation, relays: list[RelayProcess]) -> bool:
    names = {each.name.rpartition("-")[2] for each in installation.membership.members()}
    return names == {str(each.pid) for each in relays} and bool(installation.membership.leaders())


@contextmanager
def _servers(tick_ms: int) -> Iterator[tuple[MariaDB, Kafka, ZooKeeper]]:
    with MariaDB() as database, Kafka() as kafka, ZooKeeper(tick_ms=tick_ms) as zookeeper:
        yield database, kafka, zookeeper


def _installation(
    folder: Path,
    database: MariaDB,
    kafka: Kafka,
    zookeeper: ZooKeeper,
    session_timeout_seconds: float,
) -> Installation:
    database.execute(
        f"create database {_NAME}",
        f"create table {_NAME}.t (id int primary key, n int, v longtext)",
    )
    # The relay that comes back must not be given the instance again: that would be an event of its
    # own.
    placement = {"server": "${SERVER}", "rebalance_seconds": 3600}
    installation = Installation(
        _NAME,
        folder,
        database,
        kafka,
        zookeeper,
        session_timeout_seconds=session_timeout_seconds,
        placement=placement,
        filter={"filter_regex": f"{_NAME}\\..*"},
    )
    installation.map(
        topics=[{"logicDb": _NAME, "topic": _NAME}], dbs=[{"logicDb": _NAME, "realDbs": _NAME}]
    )
    return installation


def main() -> None:
    """Measure each event several times for each tickTime, and print a Markdown table."""
    given = _parser().parse_args()
    print(
        "| tickTime ms | session timeout granted ms | event | times | median s | longest s | "
        "each s |\n|---|---|---|---|---|---|---|"
    )
    for tick_ms in given.tick_ms:
        silences, granted_ms = measure(given.events, given.times, tick_ms, given.session_timeout)
        for name, seconds in silences.items():
            each = " ".join(f"{second:.2f}" for second in sorted(seconds))
            figures = f"{statistics.median(seconds):.2f} | {max(seconds):.2f} | {each}"
            print(f"| {tick_ms} | {granted_ms} | {name} | {len(seconds)} | {figures} |", flush=True)


def _parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument(
        "--times", type=int, default=10, help="number of times that each event happens (10)"
    )
    arguments.add_argument(
        "--tick-ms",
        type=int,
        nargs="+",
        default=[1000, 2000],
        help="ZooKeeper's tickTime, one run each (1000 2000)",
    )
    arguments.add_argument(
        "--session-timeout",
        type=float,
        default=2.0,
        help="session_timeout_seconds of the relays (2, the default)",
    )
    arguments.add_argument(
        "--events", nargs="+", choices=EVENTS, default=list(EVENTS), help="events to measure (all)"
    )
    return arguments


if __name__ == "__main__":
    main()
