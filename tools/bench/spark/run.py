"""One measured run, and the table of several."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from tools.bench.measuring.report import Report
from tools.bench.spark.job_run import Batch, UsageMeter, rate

_MEGABYTE = 1_000_000
_NOTHING = "-"


@dataclass(frozen=True, slots=True)
class SparkRun:
    """The figures of one run of a job or of a baseline.

    what              name of the run
    messages          number of all messages, also of those that are not the newest of their key
    whole_per_second  messages per second of the whole run
    warm_per_second   messages per second after the warm-up
    cpu_s             program → CPU seconds
    peak_bytes        program → peak memory
    exact             whether the copy was as expected; None: it was not compared
    batches           the batches of a job
    rows_per_second   rows that the sink wrote after the warm-up, per second of its writes; None:
                      not measured
    beside            name of the run that it is compared with; a baseline is compared with itself
    """

    what: str
    messages: int
    whole_per_second: float
    warm_per_second: float
    cpu_s: dict[str, float]
    peak_bytes: dict[str, int]
    exact: bool | None
    batches: tuple[Batch, ...] = ()
    rows_per_second: float | None = None
    beside: str | None = None

    @classmethod
    def of_job(
        cls,
        what: str,
        batches: Sequence[Batch],
        warm: int,
        watched: UsageMeter,
        *,
        exact: bool,
        rows_per_second: float | None = None,
        beside: str | None = None,
    ) -> "SparkRun":
        """Return the figures of a job whose first `warm` batches are its warm-up."""
        messages = sum(each.messages for each in batches)
        whole, after = rate(batches), rate(batches[warm:] or batches)
        return cls(
            what,
            messages,
            whole,
            after,
            watched.cpu_s,
            watched.peaks,
            exact,
            tuple(batches),
            rows_per_second,
            beside,
        )

    def cells(self, yardstick: float | None) -> tuple[str, ...]:
        """Return the run as a line of a table."""
        return (
            self.what,
            {None: _NOTHING, True: "equal", False: "DIFFERENT"}[self.exact],
            f"{self.messages:,}",
            f"{self.whole_per_second:,.0f}",
            f"{self.warm_per_second:,.0f}",
            _NOTHING if yardstick is None else f"{self.whole_per_second / yardstick:.1f}",
            _NOTHING if yardstick is None else f"{self.warm_per_second / yardstick:.1f}",
            *self._sink_alone(yardstick),
            ", ".join(
                f"{name} {1e6 * seconds / self.messages:.0f}"
                for name, seconds in self.cpu_s.items()
            ),
            ", ".join(f"{name} {peak / _MEGABYTE:,.0f}" for name, peak in self.peak_bytes.items()),
        )

    def _sink_alone(self, yardstick: float | None) -> tuple[str, ...]:
        """Return the column of the sink alone; none where that was not measured."""
        if self.rows_per_second is None:
            return ()
        return (
            f"{self.rows_per_second:,.0f}",
            _NOTHING if yardstick is None else f"{self.rows_per_second / yardstick:.1f}",
        )


def spark_report(
    title: str, runs: Sequence[SparkRun], notes: Sequence[str], yardstick: str | None = None
) -> Report:
    """Return a table of runs. `yardstick` is the name of the baselines."""
    whole = {run.what: run.whole_per_second for run in runs}
    bases = [whole.get(run.beside) if run.beside else None for run in runs]
    alone = (
        ("rows/s into the copy, warm", f"times {yardstick}, warm")
        if any(run.rows_per_second is not None for run in runs)
        else ()
    )
    times = f"times {yardstick or 'that'}"
    head = (
        "what",
        "copy",
        "messages",
        "messages/s",
        "warm",
        times,
        "warm",
        *alone,
        "CPU µs a message",
        "peak memory, MB",
    )
    return Report(
        title,
        head,
        [run.cells(base) for run, base in zip(runs, bases, strict=True)],
        notes,
        [asdict(run) for run in runs],
    )
