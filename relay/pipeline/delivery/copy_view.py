"""Describes the progress of the running copy request for the status."""

from dataclasses import asdict, dataclass, replace

from relay.model.records.snapshot_progress import SnapshotProgress


@dataclass(frozen=True, slots=True)
class CopyView:
    """The progress of the running copy request.

    request          its number; "": no request is running
    table            the table that is read now
    rows             number of published rows
    remaining        the rows in the unfinished tables, as the source server estimates them
    rows_per_second  the average over the last seconds
    tables_done      number of finished tables
    tables_left      number of unfinished tables, including the present one
    voided           how often a chunk had to be read again
    waits            why no rows are read now; "": rows are read
    lost             requests that the position record names and that ZooKeeper no longer has
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
        """Return the view with `why` as the reason why no rows are read."""
        return self if why == self.waits else replace(self, waits=why)

    def reading(
        self,
        table: str,
        tables_left: int,
        rows_left: int,
        progress: SnapshotProgress,
        copied: int,
    ) -> "CopyView":
        """Return a view which shows that a table is read now.

        table        name of the table
        tables_left  number of unfinished tables, including this one
        rows_left    the rows in all unfinished tables, as the source server estimates them
        progress     the progress of the request
        copied       number of rows of this table that were read
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
        """Return the fields of the status document; {} if no request runs and none is lost."""
        return asdict(self) if self.request or self.lost else {}


class Rate:
    """Computes an average of rows per second over about the last `seconds`, in which older rows
    count less (exponential decay); `value` is the average.
    """

    def __init__(self, now_s: float, seconds: float = 5.0) -> None:
        self._at_s = now_s
        self._seconds = seconds
        self.value = 0.0

    def add(self, rows: int, now_s: float) -> None:
        """Count rows that were published since the last call. `now_s` is in seconds of one
        monotonic clock.
        """
        passed_s = max(1e-3, now_s - self._at_s)
        kept = 0.5 ** (passed_s / self._seconds)
        self.value = self.value * kept + (1 - kept) * rows / passed_s
        self._at_s = now_s
