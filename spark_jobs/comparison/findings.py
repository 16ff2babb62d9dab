"""What a comparison found, table by table, and how it is told."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from rich import box
from rich.table import Table

from spark_jobs.comparison.look import Seen


class Outcome(IntEnum):
    """The exit code: the greatest of all tables, but a difference found counts more than a table that could not be judged."""

    EQUAL = 0
    DIFFERENT = 1
    UNKNOWN = 2


@dataclass(frozen=True, slots=True)
class TableFindings:
    """One logical table.

    `source_rows` and `copy_rows` were counted by the checksums. `ranges` are the key ranges whose checksums differed. `different` rows
    stay after all that was on its way arrived; `repaired` were different and are equal now; `undecided` are still on their way, or could
    not be judged in time. `more`: differing rows beyond those that were looked at. `reason`: why the table could not be compared.
    `unpublished`: columns of the source that no message has, so that there is nothing of them to compare.
    """

    table: str
    source_rows: int = 0
    copy_rows: int = 0
    ranges: Sequence[str] = ()
    different: Sequence[Seen] = ()
    undecided: Sequence[Seen] = ()
    repaired: Sequence[Seen] = ()
    more: int = 0
    reason: str | None = None
    unpublished: Sequence[str] = ()
    seconds: float = field(default=0.0, compare=False)

    @property
    def outcome(self) -> Outcome:
        """Equal only where every row was seen equal."""
        if self.different:
            return Outcome.DIFFERENT
        return Outcome.UNKNOWN if self.reason or self.undecided or self.more else Outcome.EQUAL

    def to_fields(self) -> dict[str, Any]:
        """The findings for machines."""
        rows = {"different": self.different, "undecided": self.undecided, "repaired": self.repaired}
        return {
            "table": self.table,
            "outcome": self.outcome.name.lower(),
            "source_rows": self.source_rows,
            "copy_rows": self.copy_rows,
            "ranges": list(self.ranges),
            **{name: [{"key": each.key, "what": list(each.what), "order": each.order} for each in seen] for name, seen in rows.items()},
            "more": self.more,
            "reason": self.reason,
            "unpublished": list(self.unpublished),
            "seconds": round(self.seconds, 3),
        }


def exit_code(findings: Sequence[TableFindings]) -> int:
    """0: all equal; 1: some table differs; 2: none differs, but not all could be judged."""
    outcomes = {each.outcome for each in findings}
    return next((int(each) for each in (Outcome.DIFFERENT, Outcome.UNKNOWN) if each in outcomes), 0)


def findings_json(findings: Sequence[TableFindings]) -> str:
    """All findings as one JSON object."""
    content = {"exit_code": exit_code(findings), "tables": [each.to_fields() for each in findings]}
    return json.dumps(content, ensure_ascii=False, indent=2)


def findings_table(findings: Sequence[TableFindings], rows_shown: int = 20) -> Table:
    """All findings for people: a line for each table, below it the rows that differ."""
    shown = Table(box=box.ASCII2)
    for heading, justify in (("table", "left"), ("source rows", "right"), ("copy rows", "right"), ("outcome", "left"), ("what", "left")):
        shown.add_column(heading, justify="right" if justify == "right" else "left", overflow="fold")
    for each in findings:
        shown.add_row(each.table, str(each.source_rows), str(each.copy_rows), each.outcome.name.lower(), _summary(each))
        for name, seen in (("different", each.different), ("undecided", each.undecided), ("repaired", each.repaired)):
            for row in seen[:rows_shown]:
                shown.add_row("", "", "", name, f"{row.key}: {', '.join(row.what)}")
            if len(seen) > rows_shown:
                shown.add_row("", "", "", name, f"and {len(seen) - rows_shown} more")
    return shown


def _summary(found: TableFindings) -> str:
    if found.reason:
        return found.reason
    counts = {
        "different": len(found.different),
        "undecided": len(found.undecided),
        "repaired": len(found.repaired),
        "not looked at": found.more,
    }
    told = [f"{count} {name}" for name, count in counts.items() if count]
    kept = [f"not published: {', '.join(found.unpublished)}"] if found.unpublished else []
    return ", ".join([*told, *(f"in {each}" for each in found.ranges[:3]), *kept])
