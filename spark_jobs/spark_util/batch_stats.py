"""Counts the work of one batch."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, slots=True)
class BatchFigures:
    """Counts of one batch.

    rows         read changes of rows, including quarantined ones
    history      changes of history rows of system-versioned tables, which no copy contains
    winners      rows of copies that were written
    deletes      keys whose newest change is a delete
    replayed     tables to which the batch had been applied before
    truncates    real tables whose TRUNCATE was followed
    renames      statements whose renames of columns were followed
    problems     reason → number of quarantined messages
    lag_seconds  age of the newest message when it had been applied
    """

    rows: int = 0
    history: int = 0
    keys: int = 0
    winners: int = 0
    deletes: int = 0
    replayed: int = 0
    truncates: int = 0
    renames: int = 0
    problems: Mapping[str, int] = field(default_factory=dict)
    lag_seconds: float = 0.0
    seconds: float = 0.0

    @property
    def put_aside(self) -> int:
        """The number of messages that were stored in the quarantine."""
        return sum(self.problems.values())

    @property
    def stale(self) -> int:
        """Number of changes that were discarded because the batch or the copy has a newer change of
        the key.
        """
        return max(
            self.rows - self.history - self.put_aside - self.winners, 0
        )  # a change of the key in one message writes two rows

    @property
    def rate(self) -> float:
        """The number of read rows per second."""
        return self.rows / self.seconds if self.seconds else 0.0

    def to_fields(self) -> dict[str, object]:
        """Return all figures, also the computed ones, as JSON values."""
        computed = {"put_aside": self.put_aside, "stale": self.stale, "rows_per_second": self.rate}
        return {**asdict(self), "problems": dict(self.problems), **computed}

    def __str__(self) -> str:
        emptied = f"{self.truncates} truncated, " if self.truncates else ""
        renamed = f"{self.renames} renames, " if self.renames else ""
        again = f"{self.replayed} tables had it already, " if self.replayed else ""
        history = f"{self.history} of history, " if self.history else ""
        return (
            f"{self.rows} rows in, {self.winners} winners, {self.stale} stale, {self.deletes} "
            f"deletes, {self.put_aside} put aside, "
            f"{emptied}{renamed}{history}{again}lag {self.lag_seconds:.1f} s, {self.seconds:.1f} "
            f"s, {self.rate:.0f} rows/s"
        )
