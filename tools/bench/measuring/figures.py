"""The figures of single runs, and their medians over several rounds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import nan
from statistics import median
from typing import Final

_MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Run:
    """The figures of one run, in which a contestant publishes the rows of one binlog.

    The times, except `startup_s`, are from the first row in Kafka to the last visible row.

    process_s   CPU seconds (user and system) of the contestant's process and its children
    broker_s    CPU seconds of Kafka
    source_s    CPU seconds of the database
    others_s    CPU seconds of unrelated programs; a run with many of them is not reliable
    startup_s   seconds from the start of the process to the first row in Kafka
    peak_bytes  peak memory of the process and its children; None if it is not comparable
    """

    workload: str
    server: str
    contestant: str
    round: int
    rows: int
    messages: int
    value_bytes: int
    binlog_bytes: int
    wall_s: float
    process_s: float
    broker_s: float
    source_s: float
    others_s: float
    startup_s: float
    peak_bytes: int | None

    @property
    def rows_per_second(self) -> float:
        """Return the rows per second of wall time, start-up not counted."""
        return self.rows / self.wall_s

    @property
    def rows_per_cpu_second(self) -> float:
        """Return the rows per CPU second; NaN for a run shorter than one tick of the CPU clock."""
        return self.rows / self.process_s if self.process_s else nan


@dataclass(frozen=True, slots=True)
class Summary:
    """The medians of a contestant's rounds with one workload on one server.

    slowest, fastest     rows per second of the slowest and of the fastest round
    other_cores          average number of cores that unrelated programs used, in the worst round
    times_reference      rows per second, divided by those of the reference; None without one
    cpu_times_reference  rows per CPU second, divided by those of the reference; None without one
    """

    workload: str
    server: str
    contestant: str
    rounds: int
    rows_per_second: float
    slowest: float
    fastest: float
    rows_per_cpu_second: float
    broker_s: float
    peak_megabytes: float | None
    bytes_per_row: float
    binlog_megabytes_per_second: float
    startup_s: float
    other_cores: float
    times_reference: float | None = None
    cpu_times_reference: float | None = None


def summarize(runs: Iterable[Run], reference: str) -> list[Summary]:
    """Return one summary per workload, server and contestant, in the order of their first runs."""
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.workload, run.server, run.contestant), []).append(run)
    plain = {key: _of(group) for key, group in groups.items()}
    return [
        _beside(summary, plain.get((workload, server, reference)))
        for (workload, server, _), summary in plain.items()
    ]


def _of(runs: Sequence[Run]) -> Summary:
    first = runs[0]
    speeds = [run.rows_per_second for run in runs]
    peaks = [run.peak_bytes for run in runs if run.peak_bytes is not None]
    return Summary(
        workload=first.workload,
        server=first.server,
        contestant=first.contestant,
        rounds=len(runs),
        rows_per_second=median(speeds),
        slowest=min(speeds),
        fastest=max(speeds),
        rows_per_cpu_second=median(run.rows_per_cpu_second for run in runs),
        broker_s=median(run.broker_s for run in runs),
        peak_megabytes=max(peaks) / _MEGABYTE if peaks else None,
        bytes_per_row=first.value_bytes / first.rows,
        binlog_megabytes_per_second=median(run.binlog_bytes / run.wall_s for run in runs)
        / _MEGABYTE,
        startup_s=median(run.startup_s for run in runs),
        other_cores=max(run.others_s / run.wall_s for run in runs),
    )


def _beside(summary: Summary, reference: Summary | None) -> Summary:
    if reference is None:
        return summary
    return replace(
        summary,
        times_reference=summary.rows_per_second / reference.rows_per_second,
        cpu_times_reference=summary.rows_per_cpu_second / reference.rows_per_cpu_second,
    )


@dataclass(frozen=True, slots=True)
class LiveRun:
    """The latency of small transactions at a steady rate, and the contestant's CPU time and memory.

    rate          transactions per second
    sent, seen    number of transactions that were committed, and that the consumer received
    p50_ms …      milliseconds from the answer to the commit until a read_committed consumer has the
                  row
    idle_percent  CPU use in percent of a core during `idle_s` seconds without load, after a warm-up
    busy_percent  CPU use in percent of a core during the load
    """

    server: str
    contestant: str
    rate: float
    sent: int
    seen: int
    p50_ms: float
    p99_ms: float
    max_ms: float
    idle_percent: float
    idle_s: float
    busy_percent: float
    peak_bytes: int


def percent(cpu_s: float, wall_s: float) -> float:
    """Return the share of one core in percent."""
    return 100.0 * cpu_s / wall_s
