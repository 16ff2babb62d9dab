"""Latency: small transactions at a steady rate, timed from the answer to their commit until a
read_committed consumer holds the row.
"""

import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, Final

import pymysql
from confluent_kafka import Consumer, TopicPartition

from deploy.demo.figures import percentile
from deploy.embedded import SqlServer
from deploy.embedded.processes.ports import HOST
from tools.bench.measuring.figures import LiveRun, percent
from tools.bench.measuring.usage import cpu_seconds, peak_bytes
from tools.bench.measuring.workload import SCHEMA
from tools.bench.peers.contestant import PARTITIONS, BenchFailed, Contestant, Stage

TABLE: Final = "ticks"
_NOTE: Final = re.compile(rb"tick-(\d+)")
_READY_S: Final = 120.0
_LATE_S: Final = 30.0
_NUDGE_S: Final = 0.5
_PAUSE_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Load:
    """`rate` one-row transactions per second for `seconds`, after `warm_s` of the same that is not
    counted and `idle_s` of rest.
    """

    rate: float
    seconds: float
    warm_s: float
    idle_s: float

    @property
    def warm(self) -> int:
        """Return the number of transactions that are written first and not counted."""
        return int(self.rate * self.warm_s)

    @property
    def counted(self) -> int:
        """Return the number of transactions whose latency is measured."""
        return int(self.rate * self.seconds)


class Ticks:
    """The workload: an empty table that the load writes to."""

    name: Final = "ticks"
    tables: Final = (TABLE,)

    def create(self, database: SqlServer) -> None:
        """Create the empty table."""
        database.execute(f"CREATE TABLE {SCHEMA}.{TABLE} (id BIGINT PRIMARY KEY, note VARCHAR(32))")

    def write(self, _database: SqlServer) -> int:
        """Write nothing and return 0: the load writes while the relay runs."""
        return 0


class Sight:
    """Reads the topics as a consumer does.

    `at` holds the monotonic second at which a tick was first in its hands.
    """

    def __init__(self, stage: Stage) -> None:
        self.at: dict[int, float] = {}
        self._consumer = Consumer(
            {
                "bootstrap.servers": stage.kafka.bootstrap,
                "group.id": "bench-live",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 5,
                "allow.auto.create.topics": False,
            }
        )

    def open(self, topics: Sequence[str]) -> bool:
        """Begin at the topics' start; False while they are not there."""
        there = self._consumer.list_topics(timeout=10).topics
        if not set(topics) <= set(there):
            return False
        self._consumer.assign(
            [TopicPartition(topic, number, 0) for topic in topics for number in range(PARTITIONS)]
        )
        return True

    def look(self, seconds: float = _PAUSE_S) -> None:
        """Take one message if there is one within the time."""
        message = self._consumer.poll(seconds)
        if message is None or message.error() is not None:
            return
        now = time.monotonic()
        found = _NOTE.search(message.value() or b"")
        if found:
            self.at.setdefault(int(found[1]), now)

    def any_within(self, seconds: float) -> bool:
        """Whether any tick was seen."""
        self.look(seconds)
        return bool(self.at)

    def close(self) -> None:
        """Close the consumer's connections to the brokers."""
        self._consumer.close()


def measure(contestant: Contestant, name: str, stage: Stage, load: Load) -> LiveRun:
    """Start it, warm it, let it rest, load it. Raises BenchFailed when rows stay away."""
    first = int(stage.label) * 10_000_000
    with closing(Sight(stage)) as sight, ProcessPoolExecutor(1, get_context("spawn")) as writer:
        contestant.start()
        _until_first_row(contestant, stage, sight, first)
        first += 1_000_000
        _loaded(
            writer.submit(write, stage.source.port, first, load.warm, load.rate), sight, contestant
        )
        idle_s, idle_cpu_s = _rest(contestant, load.idle_s)
        first += load.warm
        before, began = cpu_seconds(contestant.pid), time.monotonic()
        committed = _loaded(
            writer.submit(write, stage.source.port, first, load.counted, load.rate),
            sight,
            contestant,
        )
        busy = percent(cpu_seconds(contestant.pid) - before, time.monotonic() - began)
    delays = [1000 * max(0.0, sight.at[tick] - at) for tick, at in committed.items()]
    return LiveRun(
        server=stage.source.name,
        contestant=name,
        rate=load.rate,
        sent=len(committed),
        seen=len(delays),
        p50_ms=percentile(delays, 0.5),
        p99_ms=percentile(delays, 0.99),
        max_ms=max(delays),
        idle_percent=percent(idle_cpu_s, idle_s),
        idle_s=load.idle_s,
        busy_percent=busy,
        peak_bytes=peak_bytes(contestant.pid),
    )


def write(port: int, first: int, ticks: int, rate: float) -> dict[int, float]:
    """Commit ticks at the rate, in a process of its own.

    The monotonic second of each commit's answer. The clock is the machine's.
    """
    answered: dict[int, float] = {}
    pause = threading.Event()
    login: dict[str, Any] = {
        "host": HOST,
        "port": port,
        "user": SqlServer.admin,
        "password": SqlServer.admin,
    }
    with (
        pymysql.connect(**login, autocommit=True, database=SCHEMA) as connection,
        connection.cursor() as cursor,
    ):
        began = time.monotonic()
        for tick in range(first, first + ticks):
            due = began + (tick - first) / rate - time.monotonic()
            if due > 0:
                pause.wait(due)
            cursor.execute(f"INSERT INTO {TABLE} VALUES ({tick}, 'tick-{tick}')")
            answered[tick] = time.monotonic()
    return answered


def _until_first_row(contestant: Contestant, stage: Stage, sight: Sight, first: int) -> None:
    """Nudge it by a row now and then: one that begins at the end of the binlog misses those before
    it was ready.
    """
    numbers = iter(range(first, first + 1_000_000))
    deadline = time.monotonic() + _READY_S
    with stage.source.connect(database=SCHEMA) as connection, connection.cursor() as cursor:

        def nudge() -> None:
            tick = next(numbers)
            cursor.execute(f"INSERT INTO {TABLE} VALUES ({tick}, 'tick-{tick}')")

        _nudged(lambda: sight.open(contestant.topics.rows), nudge, contestant, deadline)
        _nudged(lambda: sight.any_within(_NUDGE_S), nudge, contestant, deadline)


def _nudged(
    reached: Callable[[], bool], nudge: Callable[[], None], contestant: Contestant, deadline: float
) -> None:
    pause = threading.Event()
    while not reached():
        if not contestant.running or time.monotonic() > deadline:
            raise BenchFailed(f"No row came through. Its log ends:\n{contestant.log_tail()}")
        nudge()
        pause.wait(_NUDGE_S)


def _loaded(
    writing: "Future[dict[int, float]]", sight: Sight, contestant: Contestant
) -> dict[int, float]:
    """Read until all that is written was seen."""
    while not writing.done():
        sight.look()
    committed = writing.result()
    deadline = time.monotonic() + _LATE_S
    while not committed.keys() <= sight.at.keys():
        if time.monotonic() > deadline:
            missing = len(committed.keys() - sight.at.keys())
            raise BenchFailed(
                f"{missing} rows were not seen within {_LATE_S:.0f} s. Its log "
                f"ends:\n{contestant.log_tail()}"
            )
        sight.look()
    return committed


def _rest(contestant: Contestant, seconds: float) -> tuple[float, float]:
    """CPU seconds used in a window without any load: its true length, and those."""
    before, began = cpu_seconds(contestant.pid), time.monotonic()
    threading.Event().wait(seconds)
    return time.monotonic() - began, cpu_seconds(contestant.pid) - before
