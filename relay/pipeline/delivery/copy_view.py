"""The progress of the present request, as an instance reports it."""

from dataclasses import asdict, dataclass, replace

from relay.model.records.snapshot_progress import SnapshotProgress


@dataclass(frozen=True, slots=True)
class CopyView:
    """The running request. `rows` is the number of its published rows. `remaining` is the server's
    estimate of the rows in the remaining tables.
    `rows_per_second`: over the last seconds. `tables_left` counts the present one. `waits`: why no
    rows are read now, "" while rows are read. `lost` are requests whose progress is in
    the position record, but which are missing in ZooKeeper.
    """

    request: str = ""
    table: str = ""
    rows: int = 0
    remaining: int = 0
    rows_per_second: float = 0.0
    tables_done: int = 0
    tables_left: int = 0
    voided: int = 0
    waits: str = ""
    lost: tuple[str, ...] = ()

    def waiting(self, why: str) -> "CopyView":
        """Return the view with another reason to wait."""
        return self if why == self.waits else replace(self, waits=why)

    def reading(
        self,
        table: str,
        tables_left: int,
        rows_left: int,
        progress: SnapshotProgress,
        copied: int,
    ) -> "CopyView":
        """Return the view of this table.

        `rows_left` is the server's estimate of all tables that are left, and `copied` the rows of
        the present one that were read.
        """
        return replace(
            self,
            table=table,
            tables_left=tables_left,
            tables_done=progress.tables,
            remaining=max(0, rows_left - copied),
            rows=progress.rows,
        )

    def to_fields(self) -> dict[str, object]:
        """Return the JSON object; {} without a request."""
        return asdict(self) if self.request or self.lost else {}


class Rate:
    """Rows a second over about the last `seconds`, by exponential decay."""

    def __init__(self, now_s: float, seconds: float = 5.0) -> None:
        self._at_s = now_s
        self._seconds = seconds
        self.value = 0.0

    def add(self, rows: int, now_s: float) -> None:
        """Note rows that were published since the last call."""
        passed_s = max(1e-3, now_s - self._at_s)
        kept = 0.5 ** (passed_s / self._seconds)
        self.value = self.value * kept + (1 - kept) * rows / passed_s
        self._at_s = now_s
