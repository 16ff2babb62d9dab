"""Reports the result of a first copy for each table."""

import json
from dataclasses import asdict, dataclass
from enum import StrEnum

from spark_jobs.first_copy.copy_run import CopyFigures


class TableState(StrEnum):
    """How a run ended for one table."""

    COPIED = "copied"
    COPIED_BEFORE = "copied_before"
    STOPPED = "stopped"
    LEFT_OUT = "left_out"


@dataclass(frozen=True, slots=True)
class TableReport:
    """The result of a run for one table.

    table    logical name
    state    COPIED_BEFORE: an earlier run finished the table; STOPPED: the next start continues it;
             LEFT_OUT: it is not copied
    rows     number of rows that all runs have copied
    removed  number of removed rows of the copy, which the source no longer has
    reason   why the table is left out; None for other states
    """

    table: str
    state: TableState
    rows: int = 0
    removed: int = 0
    reason: str | None = None

    @classmethod
    def of(cls, table: str, figures: CopyFigures) -> "TableReport":
        """Return the report of a table that this run has copied completely or in part."""
        state = TableState.COPIED if figures.ended else TableState.STOPPED
        return cls(table, state, figures.rows, figures.removed)

    def to_json(self) -> str:
        """Return one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    def __str__(self) -> str:
        if self.state is TableState.LEFT_OUT:
            return f"{self.table}: left out: {self.reason}"
        state = (
            "stopped; the next start continues"
            if self.state is TableState.STOPPED
            else f"removed {self.removed} that the source no longer has"
        )
        return f"{self.table}: {self.rows} rows copied, {state}"
