"""One measured run, and the table of several."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from tests.bench.report import Report
from tests.bench.spark.laps import Batch, Watched

_MEGABYTE = 1_000_000
_NOTHING = "-"


@dataclass(frozen=True, slots=True)
class SparkRun:
    """`rows_per_second` counts messages, those that lose included. `exact` None: the copy was not compared."""

    what: str
    messages: int
    rows_per_second: float
    cpu_s: dict[str, float]
    peak_bytes: dict[str, int]
    exact: bool | None
    batches: tuple[Batch, ...] = ()

    @classmethod
    def of(
        cls, what: str, messages: int, rows_per_second: float, watched: Watched, *, exact: bool | None, batches: Sequence[Batch] = ()
    ) -> "SparkRun":
        """Put together what was measured."""
        return cls(what, messages, rows_per_second, watched.cpu_s, watched.peaks, exact, tuple(batches))

    def cells(self, yardstick: float | None) -> tuple[str, ...]:
        """The run as a line of a table."""
        return (
            self.what,
            {None: _NOTHING, True: "equal", False: "DIFFERENT"}[self.exact],
            f"{self.messages:,}",
            f"{self.rows_per_second:,.0f}",
            _NOTHING if yardstick is None else f"{self.rows_per_second / yardstick:.1f}",
            ", ".join(f"{name} {1e6 * seconds / self.messages:.0f}" for name, seconds in self.cpu_s.items()),
            ", ".join(f"{name} {peak / _MEGABYTE:,.0f}" for name, peak in self.peak_bytes.items()),
        )


def spark_report(title: str, runs: Sequence[SparkRun], notes: Sequence[str], yardstick: str | None = None) -> Report:
    """Runs below each other; `yardstick` names the one that the others are compared with."""
    base = next((run.rows_per_second for run in runs if run.what == yardstick), None)
    head = ("what", "copy", "messages", "messages/s", f"times {yardstick or 'that'}", "CPU µs a message", "peak memory, MB")
    return Report(title, head, [run.cells(base) for run in runs], notes, [asdict(run) for run in runs])
