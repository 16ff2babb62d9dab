"""Measures contestants one after the other on the same binlog, round by round, so that other load
on the machine affects all of them.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from deploy.embedded import EmbeddedError, Kafka, SqlServer, ZooKeeper
from deploy.embedded.fetching.progress import say
from tools.bench.measuring.count import Counted, count
from tools.bench.measuring.figures import Run
from tools.bench.measuring.measured_run import MeasuredRun, measure_run
from tools.bench.measuring.offsets import Offsets
from tools.bench.measuring.workload import Workload, Written, fill
from tools.bench.peers.canal import Canal
from tools.bench.peers.contestant import BenchFailed, Contestant, RunSetup, not_measured
from tools.bench.peers.debezium import Debezium
from tools.bench.peers.maxwell import Maxwell
from tools.bench.peers.plain import PlainProducer
from tools.bench.peers.relay import Relay

Entry: TypeAlias = Callable[[RunSetup], Contestant]
RELAY: Final = "relay"
DEBEZIUM: Final = "Debezium Server"
MAXWELL: Final = "Maxwell"
CANAL: Final = "Canal"
EVENT: Final = "relay, rows_per_message = event"
TWO_IDS: Final = "relay, producers = 2"
UNCOMPILED: Final = "relay, without a compiler"
PLAIN: Final = "plain producer (limit)"
ENTRIES: Final[dict[str, Entry]] = {
    RELAY: Relay,
    DEBEZIUM: Debezium,
    EVENT: lambda setup: Relay(setup, form="event"),
    MAXWELL: Maxwell,
    CANAL: Canal,
    TWO_IDS: lambda setup: Relay(setup, producers=2),
    UNCOMPILED: lambda setup: Relay(setup, uncompiled=True),
}
ONCE: Final = frozenset(
    {PLAIN, EVENT, TWO_IDS, UNCOMPILED}
)  # in the first round only: they are the reference of the others
_BUFFER_POOL_BYTES: Final = 512 * 1024 * 1024


@dataclass(slots=True)
class Race:
    """Measures contestants one after the other.

    runs      the measured runs so far
    failures  sentences about what could not be measured
    """

    kafka: Kafka
    zookeeper: ZooKeeper
    runs: list[Run] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    _number: int = 0
    _offsets: Offsets = field(init=False)

    def __post_init__(self) -> None:
        self._offsets = Offsets(self.kafka)

    def rounds(
        self,
        kinds: Sequence[type[SqlServer]],
        workload: Workload,
        entries: Sequence[str],
        rounds: int,
    ) -> None:
        """Fill fresh servers and let every entry run `rounds` times on each, or once if it is one
        of ONCE.
        """
        with _filled(kinds, workload) as sources:
            self._warm(*sources[0], workload, entries[0])
            for number in range(1, rounds + 1):
                for source, written in sources:
                    self._round(source, written, workload, entries, number)

    def _warm(self, source: SqlServer, written: Written, workload: Workload, name: str) -> None:
        """Run one entry without counting it: the first run includes the warm-up of a new broker."""
        with (
            self._setup(source, written, workload) as setup,
            closing(ENTRIES[name](setup)) as contestant,
        ):
            with suppress(BenchFailed, EmbeddedError):  # the counted runs report the same
                measure_run(contestant, setup, self._offsets)
            topics = [*contestant.topics.all]
        self._offsets.delete(topics)

    @contextmanager
    def _setup(self, source: SqlServer, written: Written, workload: Workload) -> Iterator[RunSetup]:
        with tempfile.TemporaryDirectory(prefix="roma-bench-") as folder:
            self._number += 1
            yield RunSetup(
                source,
                self.kafka,
                self.zookeeper,
                Path(folder),
                str(self._number),
                workload.tables,
                written,
            )

    def _round(
        self,
        source: SqlServer,
        written: Written,
        workload: Workload,
        entries: Sequence[str],
        number: int,
    ) -> None:
        kept: list[str] = []
        for name in entries:
            if (name == PLAIN and not kept) or (name in ONCE and number > 1):
                continue
            entry = partial(PlainProducer, topic=kept[0]) if name == PLAIN else ENTRIES[name]
            with self._setup(source, written, workload) as setup:
                topics = self._attempt(name, entry, setup, workload.name, number)
            if name == RELAY:
                kept = topics  # the plain producer sends them again
            else:
                self._offsets.delete(topics)
        self._offsets.delete(kept)

    def _attempt(
        self, name: str, entry: Entry, setup: RunSetup, workload: str, number: int
    ) -> list[str]:
        """Measure one entry; a failure is printed and kept, and the other entries are measured.
        Return its topics.
        """
        said = f"{workload}, {setup.source.name}, round {number}, {name}"
        with closing(entry(setup)) as contestant:
            try:
                measured = measure_run(contestant, setup, self._offsets)
                contestant.close()
                counted = _counted(contestant, setup)
            except (BenchFailed, EmbeddedError) as failure:
                say(f"{said}: FAILED. {failure}")
                self.failures.append(not_measured(said, failure))
            else:
                self.runs.append(_run(name, measured, counted, setup, workload, number))
                say(
                    f"{said}: {self.runs[-1].rows_per_second:,.0f} rows/s, "
                    f"{self.runs[-1].rows_per_cpu_second:,.0f} rows per CPU-second"
                )
            return list(contestant.topics.all)


@contextmanager
def _filled(
    kinds: Sequence[type[SqlServer]], workload: Workload
) -> Iterator[list[tuple[SqlServer, Written]]]:
    """Start servers and fill their binlogs at the same time."""
    with ExitStack() as stack:
        servers = [
            stack.enter_context(kind({"innodb_buffer_pool_size": _BUFFER_POOL_BYTES}))
            for kind in kinds
        ]
        with ThreadPoolExecutor() as threads:
            written = list(threads.map(lambda server: fill(server, workload), servers))
        for server, each in zip(servers, written, strict=True):
            say(
                f"{workload.name}, {server.name}: {each.changes:,} row changes, "
                f"{each.binlog_bytes / 1e6:,.0f} MB of binlog"
            )
        yield list(zip(servers, written, strict=True))


def _counted(contestant: Contestant, setup: RunSetup) -> Counted:
    """Return the counts. Raises BenchFailed unless every row is visible once."""
    counted = count(setup.kafka, contestant.topics.rows, packed=contestant.packed)
    if counted.rows != setup.written.changes:
        raise BenchFailed(
            f"{counted.rows:,} rows are visible, {setup.written.changes:,} were written."
        )
    return counted


def _run(
    name: str, measured: MeasuredRun, counted: Counted, setup: RunSetup, workload: str, number: int
) -> Run:
    return Run(
        workload=workload,
        server=setup.source.name,
        contestant=name,
        round=number,
        rows=counted.rows,
        messages=counted.messages,
        value_bytes=counted.value_bytes,
        binlog_bytes=setup.written.binlog_bytes,
        **measured.spent,
        peak_bytes=None if name == PLAIN else measured.peak_bytes,
    )
