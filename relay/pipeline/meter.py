"""What an instance has done since it started, for the status and the metrics."""

from dataclasses import dataclass, field

from relay.model.table import TableId
from relay.position import PositionRecord


@dataclass(slots=True)
class Meter:
    """Counters written by the publishing thread and read by others; `dropped` holds a reason and a row count by real name."""

    rows: int = 0
    transactions: int = 0
    commits: int = 0
    aborts: int = 0
    fences: int = 0
    record: PositionRecord | None = None
    dropped: dict[TableId, tuple[str, int]] = field(default_factory=dict)

    def committed(self, record: PositionRecord) -> None:
        self.commits += 1
        self.record = record

    def lag_seconds(self, now_s: float) -> float | None:
        """Age of the newest committed change, in seconds; None before the first one."""
        return None if self.record is None else max(0.0, now_s - self.record.change_time_ms / 1000)

    def drop(self, table: TableId, reason: str, rows: int) -> None:
        self.dropped[table] = (reason, self.dropped.get(table, ("", 0))[1] + rows)
