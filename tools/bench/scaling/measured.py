"""The results of a series."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tools.bench.measuring.figures import Run, Summary, summarize
from tools.bench.scaling.points import Series

_NO_REFERENCE = ""


@dataclass(slots=True)
class Measured:
    """The results of a series. In its runs, `workload` is the name of the series, and `contestant`
    the label of the point.
    """

    series: Series
    runs: list[Run] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        """Return the heading of the report, which names the varied setting."""
        return f"Speed by {self.series.axis}"

    def summaries(self) -> list[Summary]:
        """Return a summary for each measured point, in the order of the axis."""
        found = {summary.contestant: summary for summary in summarize(self.runs, _NO_REFERENCE)}
        return [found[point.label] for point in self.series.points if point.label in found]

    def runs_of(self, label: str) -> Sequence[Run]:
        """Return the runs of one measuring point."""
        return [run for run in self.runs if run.contestant == label]
