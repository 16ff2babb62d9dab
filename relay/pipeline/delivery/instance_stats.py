"""What an instance has done and how far it is, for the status and the metrics."""

from collections import Counter
from dataclasses import dataclass, field
from time import time

from relay.model.records.position_record import PositionRecord
from relay.model.row_path import RowPath
from relay.model.table import TableId
from relay.pipeline.delivery.lag import Reached
from relay.pipeline.delivery.open_batch import OpenBatch
from relay.telemetry import Totals


@dataclass(slots=True)
class InstanceStats:
    """Counts and progress of one instance, written by the publishing thread and read by others.

    `record` is the last committed one, `reached` what lag is measured from; `dropped` holds a row
    count by real name and reason, `printed` one by real name, path and reason (a SlowReason or ""),
    `tables` every real name that was met.
    """

    totals: Totals = field(default_factory=Totals)
    record: PositionRecord | None = None
    reached: Reached = field(default_factory=Reached)
    dropped: Counter[tuple[TableId, str]] = field(default_factory=Counter)
    printed: Counter[tuple[TableId, RowPath, str]] = field(default_factory=Counter)
    tables: set[TableId] = field(default_factory=set)

    def committed(
        self, record: PositionRecord, batch: OpenBatch, messages: int, seconds: float
    ) -> None:
        """Kafka has said yes to a batch of `messages` rows and statements, `seconds` after it was
        asked.
        """
        totals = self.totals
        totals.published_rows += batch.rows
        totals.published_messages += messages
        totals.published_bytes += batch.value_bytes
        totals.undecodable_values += batch.undecodable_values
        totals.claims += batch.claims
        totals.dead_letters += batch.dead_letters
        totals.commits += 1
        totals.commit_seconds.append(seconds)
        if batch.oldest_ms is not None and messages:
            totals.publish_seconds.append(max(0.0, time() - batch.oldest_ms / 1000))
        self.resumed(record)

    def resumed(self, record: PositionRecord) -> None:
        """This record is the last committed one."""
        self.record = record
        self.done_up_to(record.change_time_ms)

    def done_up_to(self, change_time_ms: int) -> None:
        """Every change up to this time, Unix milliseconds, is visible or left out."""
        self.reached = self.reached.with_change(change_time_ms / 1000)

    def caught_up(self, running_s: float) -> None:
        """The source has nothing more, and nothing of it waits here, at this moment of the
        monotonic clock.
        """
        self.reached = self.reached.with_idle(running_s)

    def print(self, table: TableId, path: RowPath, reason: str, rows: int) -> None:
        """Note rows of a real table that a printer wrote; `reason` says why it was the slow one."""
        self.printed[table, path, reason] += rows
        self.totals.printed_rows[path, reason] += rows

    def drop(self, table: TableId, reason: str, cause: str, rows: int) -> None:
        """Note rows of a real table that are left out."""
        self.dropped[table, reason] += rows
        self.totals.dropped_rows[cause] += rows
