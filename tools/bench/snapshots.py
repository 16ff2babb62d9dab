"""Measures how fast a table is copied beside its stream: `make bench-snapshots`.

The relay's live stream, its copy, and Debezium's incremental snapshot publish the same rows, one
after the other, on the same servers. Then it measures the latency of live rows, without and with a
copy.
"""

import argparse
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from deploy.embedded import EmbeddedError, Kafka, MariaDB, MySQL, SqlServer, ZooKeeper
from deploy.embedded.fetching.progress import say
from tools.bench.measuring import live
from tools.bench.measuring.count import count
from tools.bench.measuring.machine import setting
from tools.bench.measuring.measured_run import MeasuredRun, RunBounds, measure_between, measure_run
from tools.bench.measuring.offsets import Offsets
from tools.bench.measuring.orders import Orders
from tools.bench.measuring.report import Report
from tools.bench.measuring.workload import Written, fill, place
from tools.bench.peers.contestant import BenchFailed, Contestant, RunSetup, not_measured
from tools.bench.peers.relay import Relay
from tools.bench.peers.snapshot_contestants import DebeziumCopy, RelayCopy

_SERVERS: Final[dict[str, type[SqlServer]]] = {"mariadb": MariaDB, "mysql": MySQL}
_LOAD: Final = live.Load(rate=200, seconds=15, warm_s=5, idle_s=1)
_COPIES: Final = 50
"""Number of consecutive requests while the latency is measured; not all of them are executed."""


@dataclass(frozen=True, slots=True)
class Filled:
    """The workload: tables full of rows, and an empty one for live rows."""

    orders: Orders
    name: str = "filled orders"

    @property
    def tables(self) -> tuple[str, ...]:
        """Return the tables with rows."""
        return self.orders.tables

    def create(self, database: SqlServer) -> None:
        """Create the tables."""
        self.orders.create(database)
        live.Ticks().create(database)

    def write(self, database: SqlServer) -> int:
        """Fill the tables; return the number of their rows."""
        return self.orders.insert(database)


def main() -> int:
    """Run the command line; the result is the exit code."""
    parser = argparse.ArgumentParser(prog="tools.bench.snapshots", description=__doc__)
    parser.add_argument("--rows", type=int, default=600_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--server", choices=_SERVERS, default="mysql")
    parser.add_argument("--without-debezium", action="store_true")
    parser.add_argument("--without-latency", action="store_true")
    parser.add_argument("--into", type=Path)
    chosen = parser.parse_args()
    here = setting(sys.argv[1:], "tools.bench.snapshots")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that every server is ended
    with (
        Kafka() as kafka,
        ZooKeeper() as zookeeper,
        _SERVERS[chosen.server]({"innodb_buffer_pool_size": 1 << 30}) as source,
    ):
        bench = Bench(kafka, zookeeper, source, Filled(Orders(chosen.rows, 0)))
        bench.run(chosen.rounds, debezium=not chosen.without_debezium)
        if not chosen.without_latency:
            bench.latencies()
        report = bench.report()
        server = _SERVERS[chosen.server].fetch().partition("-")[2]
        versions = {source.name: server, "Kafka": Kafka.fetch().removeprefix("kafka-")}
    Console(width=160).print(report.table())
    if chosen.into:
        report.write(chosen.into, "snapshots", replace(here, versions=versions))
    return 1 if bench.failures else 0


class Bench:
    """Runs the measurements on one source, and collects the rows of the report."""

    def __init__(
        self, kafka: Kafka, zookeeper: ZooKeeper, source: SqlServer, workload: Filled
    ) -> None:
        self.failures: list[str] = []
        self._kafka, self._zookeeper, self._source = kafka, zookeeper, source
        self._workload = workload
        self._offsets = Offsets(kafka)
        self._written = fill(source, workload)
        self._rows: list[Sequence[str]] = []
        self._measured: list[dict[str, Any]] = []
        self._number = 0

    def run(self, rounds: int, *, debezium: bool) -> None:
        """Measure each contestant, round by round. A first round of the relay warms up the broker
        and is not counted.
        """
        for number in range(rounds + 1):
            self._attempt("relay, live rows", number, self._live)
            self._attempt("relay, copy", number, self._relay_copy)
            if debezium and number:
                self._attempt("Debezium, incremental snapshot", number, self._debezium_copy)

    def latencies(self) -> None:
        """Measure live rows without and with a copy."""
        for name, kind in (("without a copy", Relay), ("beside a copy", BesideCopy)):
            with self._setup(live=True) as bare:
                setup = replace(bare, tables=(live.TABLE, *bare.tables))
                with closing(kind(setup)) as contestant:
                    found = live.measure(contestant, name, setup, _LOAD)
            say(f"live rows {name}: p50 {found.p50_ms:.1f} ms, p99 {found.p99_ms:.1f} ms")
            figures = {"what": f"latency {name}", "p50_ms": found.p50_ms, "p99_ms": found.p99_ms}
            self._measured.append(figures)
            shown = f"p50 {found.p50_ms:.1f} ms, p99 {found.p99_ms:.1f} ms"
            self._rows.append((f"live rows at {_LOAD.rate:.0f}/s {name}", "", "", "", shown))

    def report(self) -> Report:
        """Return the table of all runs."""
        head = ("what", "round", "rows/s", "rows per CPU-s", "latency, or CPU of broker and source")
        notes = [f"{self._workload.orders.rows:,} rows in two tables of {self._source.name}."]
        return Report("Copies of tables", head, self._rows, notes, self._measured)

    def _attempt(
        self, name: str, number: int, run: Callable[[], tuple[MeasuredRun, Sequence[str]]]
    ) -> None:
        try:
            measured, topics = run()
        except (BenchFailed, EmbeddedError, AssertionError) as failure:
            say(not_measured(f"{name}, round {number}", failure))
            self.failures.append(not_measured(name, failure))
            return
        rows, spent = self._workload.orders.rows, measured.spent
        self._offsets.delete(topics)
        rate = rows / spent["wall_s"]
        say(f"{name}, round {number}: {rate:,.0f} rows/s")
        if number:
            cpu = f"{spent['broker_s']:.1f} s, {spent['source_s']:.1f} s"
            per_cpu = f"{rows / spent['process_s']:,.0f}"
            self._rows.append((name, str(number), f"{rate:,.0f}", per_cpu, cpu))
            self._measured.append({"what": name, "round": number, "rows_per_second": rate, **spent})

    def _live(self) -> tuple[MeasuredRun, Sequence[str]]:
        with self._setup(live=False) as setup, closing(Relay(setup)) as relay:
            return measure_run(relay, setup, self._offsets), relay.topics.all

    def _relay_copy(self) -> tuple[MeasuredRun, Sequence[str]]:
        with self._setup(live=True) as setup, closing(RelayCopy(setup)) as relay:
            return self._watched(relay, relay.done), relay.topics.all

    def _debezium_copy(self) -> tuple[MeasuredRun, Sequence[str]]:
        with self._setup(live=False) as bare:
            file, offset, gtids = place(self._source)
            setup = replace(bare, written=Written(0, 0, file, offset, gtids))
            with closing(DebeziumCopy(setup)) as peer:
                rows = self._workload.orders.rows
                return (
                    self._watched(peer, lambda: self._offsets.visible(peer.topics.rows) >= rows),
                    peer.topics.all,
                )

    def _watched(self, contestant: Contestant, done: Callable[[], bool]) -> MeasuredRun:
        """Watch a copy from its first row to the end, and count the rows."""
        topics = contestant.topics.rows
        measured = measure_between(
            contestant,
            RunBounds(lambda: self._offsets.written(topics) > 0, done),
            pids=lambda: (contestant.pid,),
            broker=self._kafka.pid,
            source=self._source.pid,
        )
        found = count(self._kafka, topics, packed=False).rows
        if found != self._workload.orders.rows:
            raise BenchFailed(f"{found:,} rows are visible of {self._workload.orders.rows:,}.")
        return measured

    @contextmanager
    def _setup(self, *, live: bool) -> Iterator[RunSetup]:
        with tempfile.TemporaryDirectory(prefix="roma-bench-") as folder:
            self._number += 1
            yield RunSetup(
                self._source,
                self._kafka,
                self._zookeeper,
                Path(folder),
                str(self._number),
                self._workload.tables,
                self._written,
                live,
            )


class BesideCopy(RelayCopy):
    """A relay with so many copies that one of them runs during the whole measurement."""

    copies = _COPIES


if __name__ == "__main__":
    sys.exit(main())
