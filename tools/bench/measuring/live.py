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
from functools import partial
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
from tools.bench.peers.contestant import PARTITIONS, BenchFailed, Contestant, RunSetup

TABLE: Final = "ticks"
_NOTE: Final = re.compile(rb"tick-(\d+)")
_READY_S: Final = 120.0
_LATE_S: Final = 30.0
_NUDGE_S: Final = 0.5
_PAUSE_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Load:
    """The load: transactions of one row at a steady rate.

    rate     transactions per second
    seconds  duration of the measured load
    warm_s   duration of the same load before, which is not measured
    idle_s   pause between both, in seconds
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


class TickConsumer:
    """A consumer of the topics.

    `at`: tick → monotonic time in seconds when the consumer first received it.
    """

    def __init__(self, setup: RunSetup) -> None:
        self.at: dict[int, float] = {}
        self._consumer = Consumer(
            {
                "bootstrap.servers": setup.kafka.bootstrap,
                "group.id": "bench-live",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 5,
                "allow.auto.create.topics": False,
            }
        )

    def open(self, topics: Sequence[str]) -> bool:
        """Begin at the start of the topics; return False if one does not exist yet."""
        there = self._consumer.list_topics(timeout=10).topics
        if not set(topics) <= set(there):
            return False
        self._consumer.assign(
            [TopicPartition(topic, number, 0) for topic in topics for number in range(PARTITIONS)]
        )
        return True

    def poll(self, seconds: float = _PAUSE_S) -> None:
        """Poll one message, for at most `seconds`."""
        message = self._consumer.poll(seconds)
        if message is None or message.error() is not None:
            return
        now = time.monotonic()
        found = _NOTE.search(message.value() or b"")
        if found:
            self.at.setdefault(int(found[1]), now)

    def any_within(self, seconds: float) -> bool:
        """Poll for the given seconds; return whether any tick was ever received."""
        self.poll(seconds)
        return bool(self.at)

    def close(self) -> None:
        """Close the consumer's connections to the brokers."""
        self._consumer.close()


def measure(contestant: Contestant, name: str, setup: RunSetup, load: Load) -> LiveRun:
    """Start the contestant, warm it up, wait without load, then load it.

    Raises BenchFailed if rows are missing after the timeout.
    """
    first = int(setup.label) * 10_000_000
    with closing(TickConsumer(setup)) as consumer, _writing_process() as writer:

        def load_from(tick: int, count: int) -> dict[int, float]:
            written = writer.submit(write, setup.source.port, tick, count, load.rate)
            return _loaded(written, consumer, contestant)

        contestant.start()
        first = _until_first_row(contestant, setup, consumer, first)
        load_from(first, load.warm)
        idle_s, idle_cpu_s = _rest(contestant, load.idle_s)
        counted = partial(load_from, first + load.warm, load.counted)
        committed, busy = _busy_percent(contestant, counted)
    delays = [1000 * max(0.0, consumer.at[tick] - at) for tick, at in committed.items()]
    return LiveRun(
        server=setup.source.name,
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
    """Commit ticks at the rate; return tick → monotonic time in seconds of its commit's answer.

    Runs in a separate process; both processes read the machine's clock.
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


def _writing_process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, get_context("spawn"))


def _until_first_row(
    contestant: Contestant, setup: RunSetup, consumer: TickConsumer, first: int
) -> int:
    """Insert a row periodically until one is received; return the first tick that is still free.

    A contestant that begins at the end of the binlog misses rows from before it was ready.
    """
    end = first + 1_000_000
    numbers = iter(range(first, end))
    deadline = time.monotonic() + _READY_S
    with setup.source.connect(database=SCHEMA) as connection, connection.cursor() as cursor:

        def nudge() -> None:
            tick = next(numbers)
            cursor.execute(f"INSERT INTO {TABLE} VALUES ({tick}, 'tick-{tick}')")

        _nudged(lambda: consumer.open(contestant.topics.rows), nudge, contestant, deadline)
        _nudged(lambda: consumer.any_within(_NUDGE_S), nudge, contestant, deadline)
    return end


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
    writing: "Future[dict[int, float]]", consumer: TickConsumer, contestant: Contestant
) -> dict[int, float]:
    """Read until every written tick was received; return the times of the commits."""
    while not writing.done():
        consumer.poll()
    committed = writing.result()
    deadline = time.monotonic() + _LATE_S
    while not committed.keys() <= consumer.at.keys():
        if time.monotonic() > deadline:
            missing = len(committed.keys() - consumer.at.keys())
            raise BenchFailed(
                f"{missing} rows were not seen within {_LATE_S:.0f} s. Its log "
                f"ends:\n{contestant.log_tail()}"
            )
        consumer.poll()
    return committed


def _busy_percent(
    contestant: Contestant, load: Callable[[], dict[int, float]]
) -> tuple[dict[int, float], float]:
    """Write the load; return its commits, and the contestant's CPU in percent of one core."""
    before, began = cpu_seconds(contestant.pid), time.monotonic()
    committed = load()
    return committed, percent(cpu_seconds(contestant.pid) - before, time.monotonic() - began)


def _rest(contestant: Contestant, seconds: float) -> tuple[float, float]:
    """Wait without load; return the exact seconds of the wait and the CPU seconds used in it."""
    before, began = cpu_seconds(contestant.pid), time.monotonic()
    threading.Event().wait(seconds)
    return time.monotonic() - began, cpu_seconds(contestant.pid) - before
