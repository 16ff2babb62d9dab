"""Measures one run of one contestant from outside: from its first row in Kafka until all rows are
visible.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypedDict

from tools.bench.measuring.offsets import Offsets
from tools.bench.measuring.usage import cpu_seconds, machine_seconds, peak_bytes
from tools.bench.measuring.workload import FINISH_ROWS
from tools.bench.peers.contestant import BenchFailed, Contestant, RunSetup

_POLL_S: Final = 0.01
_FIRST_ROW_S: Final = 60.0
_RUN_S: Final = 900.0


@dataclass(frozen=True, slots=True)
class Moment:
    """A reading of clock and counters, all in seconds; the clock is monotonic.

    at_s                           the clock
    process_s, broker_s, source_s  CPU time of the contestant, of Kafka and of the database so far
    others_s                       CPU time of all unrelated programs so far
    """

    at_s: float
    process_s: float
    broker_s: float
    source_s: float
    others_s: float


class Spent(TypedDict):
    """The times of a Run: from the first row in the log to the last visible one, and before it."""

    wall_s: float
    process_s: float
    broker_s: float
    source_s: float
    others_s: float
    startup_s: float


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """Clock and counters of one run at its first and its last row.

    began_s     start of the process
    first       reading at the first row
    last        reading at the last row
    peak_bytes  peak memory of the process from its start to `last`
    """

    began_s: float
    first: Moment
    last: Moment
    peak_bytes: int

    @property
    def spent(self) -> Spent:
        """Return wall and processor seconds from first to last row, and of start-up."""
        first, last = self.first, self.last
        return {
            "wall_s": last.at_s - first.at_s,
            "process_s": last.process_s - first.process_s,
            "broker_s": last.broker_s - first.broker_s,
            "source_s": last.source_s - first.source_s,
            "others_s": last.others_s - first.others_s,
            "startup_s": first.at_s - self.began_s,
        }


@dataclass(frozen=True, slots=True)
class RunBounds:
    """The begin and the end of a run.

    first_row    returns whether the first row is in Kafka
    finished     returns whether all rows are visible
    first_row_s  seconds for which `first_row` is polled
    """

    first_row: Callable[[], bool]
    finished: Callable[[], bool]
    first_row_s: float = _FIRST_ROW_S


class MeasuredProcess(Protocol):
    """A process that the benchmark starts, and that may end unexpectedly."""

    @property
    def running(self) -> bool:
        """Return False once the process has ended."""

    def start(self) -> object:
        """Start the process. Return when it answers; without an interface, return immediately."""

    def log_tail(self) -> str:
        """Return the end of the log, for error messages."""


def measure_run(contestant: Contestant, setup: RunSetup, offsets: Offsets) -> MeasuredRun:
    """Start the contestant and measure it up to the finish line.

    Raises BenchFailed when it dies or takes longer than _RUN_S.

    The finish line is the last transaction of the binlog. A contestant that commits in the source's
    order has then published all rows. For another one, as many messages as rows must be visible.
    """
    topics, at_least = contestant.topics, 0 if contestant.packed else setup.written.changes
    bounds = RunBounds(
        lambda: offsets.written(topics.rows) > 0,
        lambda: (
            offsets.visible([topics.finish]) >= FINISH_ROWS
            and offsets.visible(topics.rows) >= at_least
        ),
    )
    return measure_between(
        contestant,
        bounds,
        pids=lambda: (contestant.pid,),
        broker=setup.kafka.pid,
        source=setup.source.pid,
    )


def measure_between(
    contestant: MeasuredProcess,
    bounds: RunBounds,
    *,
    pids: Callable[[], Sequence[int]],
    broker: int,
    source: int,
) -> MeasuredRun:
    """Start the process; read clock and counters at the start and the end of the run.

    `pids` is called after the start.
    """
    began_s = time.monotonic()
    contestant.start()
    _wait(bounds.first_row, contestant, "the first row", bounds.first_row_s)
    first = _moment(pids(), broker, source)
    _wait(bounds.finished, contestant, "the finish line", _RUN_S)
    return MeasuredRun(began_s, first, _moment(pids(), broker, source), peak_bytes(*pids()))


def _moment(pids: Sequence[int], broker_pid: int, source_pid: int) -> Moment:
    process, broker, source = cpu_seconds(*pids), cpu_seconds(broker_pid), cpu_seconds(source_pid)
    others = machine_seconds() - process - broker - source - time.process_time()
    return Moment(time.monotonic(), process, broker, source, others)


def _wait(
    reached: Callable[[], bool], contestant: MeasuredProcess, what: str, seconds: float
) -> None:
    deadline, pause = time.monotonic() + seconds, threading.Event()
    while not reached():
        if not contestant.running:
            if reached():  # it may have ended well
                return
            raise BenchFailed(f"It ended before {what}. Its log ends:\n{contestant.log_tail()}")
        if time.monotonic() > deadline:
            raise BenchFailed(
                f"It did not reach {what} in {seconds:.0f} s. Its log "
                f"ends:\n{contestant.log_tail()}"
            )
        pause.wait(_POLL_S)
