"""Measures series point by point, on the same servers for all."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from deploy.embedded import EmbeddedError, Kafka, SqlServer, ZooKeeper
from deploy.embedded.fetching.progress import say
from tools.bench.measuring.count import Counted, count
from tools.bench.measuring.figures import Run
from tools.bench.measuring.measured_run import MeasuredRun, RunBounds, measure_between
from tools.bench.measuring.offsets import Offsets
from tools.bench.measuring.workload import FINISH_ROWS
from tools.bench.peers.contestant import BenchFailed, not_measured
from tools.bench.scaling.binlog import OPTIONS, Binlog, Part
from tools.bench.scaling.measured import Measured
from tools.bench.scaling.points import Point, Series, Shape, all_series, quick, visits
from tools.bench.scaling.relays import Relays

# An index of 10 MB is mapped into memory, and the first entry in a fresh one costs 20 ms on kernels
# that map large pages, whoever writes.
_BROKER: Final = {"log.index.size.max.bytes": 128 * 1024}
_START_S: Final = 60.0
_MEET_S: Final = 0.03  # for a table that is new to a relay: ten times what it takes
_WARM: Final = Shape(100_000, transaction_rows=20)
SERIES_NAMES: Final = tuple(series.name for series in all_series())


def scale(
    kind: type[SqlServer], names: Sequence[str], rounds: int, *, small: bool
) -> Iterator[Measured]:
    """Measure the named series one after the other.

    A failure of a point is printed and kept; the other points are measured.
    """
    chosen = [quick(series) if small else series for series in all_series() if series.name in names]
    with ZooKeeper() as zookeeper, Kafka(_BROKER) as kafka, kind(OPTIONS) as source:
        bench = _Bench(source, kafka, zookeeper)
        bench.warm_up()
        for series in chosen:
            yield bench.measure(series, rounds)


class _Bench:
    def __init__(self, source: SqlServer, kafka: Kafka, zookeeper: ZooKeeper) -> None:
        self._source = source
        self._kafka = kafka
        self._zookeeper = zookeeper
        self._offsets = Offsets(kafka)
        self._binlog = Binlog(source)
        self._number = 0

    def warm_up(self) -> None:
        """Run one point without counting it: the JVM of a new broker compiles its code then."""
        say("warming up")
        self._visit(Series("warm", "", "", ()), Point("", 1, _WARM), 0)

    def measure(self, series: Series, rounds: int) -> Measured:
        measured = Measured(series)
        for number, point in visits(series.points, rounds):
            said = f"{series.name}, {point.label}, round {number} of {rounds}"
            try:
                run = self._visit(series, point, number)
            except (BenchFailed, EmbeddedError) as failure:
                say(f"{said}: FAILED. {failure}")
                measured.failures.append(not_measured(said, failure))
            else:
                measured.runs.append(run)
                say(
                    f"{said}: {run.rows_per_second:,.0f} rows/s, {run.rows_per_cpu_second:,.0f} "
                    f"rows per CPU-second, {run.wall_s:.1f} s"
                )
        return measured

    def _visit(self, series: Series, point: Point, number: int) -> Run:
        """Write the point's part of the binlog and publish it to new topics."""
        part = self._binlog.write(point.shape)
        self._number += 1
        with tempfile.TemporaryDirectory(prefix="roma-bench-") as folder:
            relays = Relays(
                str(self._number),
                point.shape,
                part,
                Path(folder),
                self._source,
                self._kafka,
                self._zookeeper,
            )
            try:
                with closing(relays):
                    measured = self._measured(relays, point)
                counted = self._counted(relays, point)
            finally:
                self._offsets.delete((*relays.topics, *relays.finishes))
        return _run(series, point, number, measured, counted, part, self._source.name)

    def _measured(self, relays: Relays, point: Point) -> MeasuredRun:
        """Measure one run. It ends when every instance has published its own finish line."""
        offsets, shape = self._offsets, point.shape

        def finished() -> bool:
            return all(
                offsets.visible([finish]) >= FINISH_ROWS for finish in relays.finishes
            ) and all(offsets.visible([topic]) >= shape.written for topic in relays.topics)

        met = shape.uncounted * shape.instances
        bounds = RunBounds(
            lambda: offsets.written(relays.topics) > met,
            finished,
            first_row_s=_START_S + _MEET_S * shape.tables,
        )
        return measure_between(
            relays,
            bounds,
            pids=lambda: relays.pids,
            broker=self._kafka.pid,
            source=self._source.pid,
        )

    def _counted(self, relays: Relays, point: Point) -> Counted:
        """Check that the topic of each instance has every row once."""
        total = Counted()
        for topic in relays.topics:
            counted = count(self._kafka, (topic,), packed=False)
            if counted.rows != point.shape.written:
                raise BenchFailed(
                    f"{counted.rows:,} rows are visible in {topic}, {point.shape.written:,} were "
                    f"written."
                )
            total = Counted(*(a + b for a, b in zip(_parts(total), _parts(counted), strict=True)))
        return total


def _parts(counted: Counted) -> tuple[int, int, int]:
    return counted.messages, counted.rows, counted.value_bytes


def _run(
    series: Series,
    point: Point,
    number: int,
    measured: MeasuredRun,
    counted: Counted,
    part: Part,
    server: str,
) -> Run:
    shape = point.shape
    share = shape.rows / shape.written  # all rows of a point are alike
    return Run(
        workload=series.name,
        server=server,
        contestant=point.label,
        round=number,
        rows=shape.rows * shape.instances,
        messages=round(counted.messages * share),
        value_bytes=round(counted.value_bytes * share),
        binlog_bytes=round(part.size_bytes * share) * shape.instances,
        **measured.spent,
        peak_bytes=measured.peak_bytes,
    )
