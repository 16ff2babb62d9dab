"""Figures of a run, and the table that shows them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.table import Table

from deploy.demo.comparison import TableComparison


@dataclass(frozen=True, slots=True)
class Figures:
    """The measured values of one run of the demo.

    changes       row changes that the consumer received of `Shop.busy_hour`
    seconds       seconds until it had received them
    latencies_ms  milliseconds from the commit of each order of `Shop.live` to the consumer
    """

    changes: int
    seconds: float
    latencies_ms: Sequence[float]

    @property
    def changes_per_second(self) -> float:
        """Return the mean rate of `changes`; 0 if no time passed."""
        return self.changes / self.seconds if self.seconds else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """Return the nearest-rank percentile of `values`, for a share of 0 to 1; NaN without any."""
    if not values:
        return float("nan")
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, max(0, -int(-share * len(ranked) // 1) - 1))]


def latencies_ms(committed: Mapping[str, float], seen: Mapping[str, float]) -> list[float]:
    """Return the milliseconds from the answer to each commit until the consumer received the row.

    0 for a row that the consumer received before the answer. Both parameters map an order's note to
    monotonic seconds.
    """
    return [max(0.0, seen[note] - at) * 1000 for note, at in committed.items() if note in seen]


def result_table(
    tables: Sequence[TableComparison], figures: Figures, expected: int, seen: int, admin: str
) -> Table:
    """Return the table that the demo prints."""
    result = Table(title="Source and copy", box=box.ASCII2, show_header=False)
    result.add_column("what")
    result.add_column("value", justify="right")
    for each in tables:
        result.add_row(f"{each.table}: rows in source", f"{each.source_rows}")
        result.add_row(f"{each.table}: rows in copy", f"{each.copy_rows}")
        result.add_row(
            f"{each.table}: equal, row for row",
            "yes" if each.equal else f"NO, {len(each.differing)} keys differ",
        )
    result.add_section()
    result.add_row("row changes made / messages seen", f"{expected} / {seen}")
    result.add_row("changes per second, to the consumer", f"{figures.changes_per_second:,.0f}")
    result.add_row("commit to consumer, p50", f"{percentile(figures.latencies_ms, 0.5):.1f} ms")
    result.add_row("commit to consumer, p99", f"{percentile(figures.latencies_ms, 0.99):.1f} ms")
    result.add_section()
    result.add_row("admin", admin)
    return result
