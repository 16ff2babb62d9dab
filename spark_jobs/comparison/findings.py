"""The findings of a comparison for each table, and functions that format them for output."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from spark_jobs.comparison.row_lookup import Seen

WHOLE_LINES: Final = 10_000
"""Width of the output in characters, so that no line is wrapped on a narrow terminal."""
_RANGES_SHOWN: Final = 3


class Outcome(IntEnum):
    """The result for one table, and the exit code of the job.

    If any table is DIFFERENT, the job exits with 1, although UNKNOWN has the greater number.
    Otherwise it exits with the greatest number of all tables.
    """

    EQUAL = 0
    DIFFERENT = 1
    UNKNOWN = 2


@dataclass(frozen=True, slots=True)
class TableFindings:
    """The findings for one logical table.

    table        name of the logical table
    source_rows  number of rows of the source when its checksums were computed
    copy_rows    number of rows of the copy when its checksums were computed
    ranges       key ranges whose checksums differed
    different    rows that differ although no change of them is pending
    repaired     rows that differed before the repair and are equal since
    undecided    rows that could not be decided in time: changes are pending, or come constantly
    more         number of differing rows that were not examined, because of `max_rows`
    reason       why the table could not be compared; None: it was compared
    unpublished  columns of the source that no message contains, so that they cannot be compared
    seconds      duration of the comparison
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
        """The result for the table; it is "equal" only if every row was compared and is equal."""
        if self.different:
            return Outcome.DIFFERENT
        return Outcome.UNKNOWN if self.reason or self.undecided or self.more else Outcome.EQUAL

    def to_fields(self) -> dict[str, Any]:
        """Return the findings as JSON fields."""
        rows = {"different": self.different, "undecided": self.undecided, "repaired": self.repaired}
        return {
            "table": self.table,
            "outcome": self.outcome.name.lower(),
            "source_rows": self.source_rows,
            "copy_rows": self.copy_rows,
            "ranges": list(self.ranges),
            **{name: [_row_fields(each) for each in seen] for name, seen in rows.items()},
            "more": self.more,
            "reason": self.reason,
            "unpublished": list(self.unpublished),
            "seconds": round(self.seconds, 3),
        }


def exit_code(findings: Sequence[TableFindings]) -> int:
    """Return the exit code for the findings. 0: all tables are equal; 1: a table differs; 2: none
    differs, but not all could be compared.
    """
    outcomes = {each.outcome for each in findings}
    return next((int(each) for each in (Outcome.DIFFERENT, Outcome.UNKNOWN) if each in outcomes), 0)


def findings_json(findings: Sequence[TableFindings]) -> str:
    """Return all findings as the text of one JSON object."""
    content = {"exit_code": exit_code(findings), "tables": [each.to_fields() for each in findings]}
    return json.dumps(content, ensure_ascii=False, indent=2)


def findings_table(findings: Sequence[TableFindings], rows_shown: int = 20) -> Group:
    """Return all findings for people: one line for each table, and below it the rows that differ.

    The caller prints the result with a width of `WHOLE_LINES`. `rows_shown` is the largest number
    of rows that are listed below a table.
    """
    shown = Table(box=box.ASCII2)
    for heading, is_number in (
        ("table", False),
        ("source rows", True),
        ("copy rows", True),
        ("outcome", False),
        ("what", False),
    ):
        shown.add_column(heading, justify="right" if is_number else "left", no_wrap=True)
    for each in findings:
        shown.add_row(
            *map(
                Text,
                (
                    each.table,
                    str(each.source_rows),
                    str(each.copy_rows),
                    each.outcome.name.lower(),
                    _summary(each),
                ),
            )
        )
    return Group(shown, *(Text(line) for each in findings for line in _details(each, rows_shown)))


def _details(found: TableFindings, rows_shown: int) -> Iterator[str]:
    """Yield the lines below the table: texts that are too long for a cell."""
    if found.reason:
        yield f"{found.table}: {found.reason}"
    if found.unpublished:
        yield f"{found.table}: not published: {', '.join(found.unpublished)}"
    if found.ranges:
        more = (
            f" and {len(found.ranges) - _RANGES_SHOWN} more ranges"
            if len(found.ranges) > _RANGES_SHOWN
            else ""
        )
        yield f"{found.table}: in {', '.join(found.ranges[:_RANGES_SHOWN])}{more}"
    for name, seen in (
        ("different", found.different),
        ("undecided", found.undecided),
        ("repaired", found.repaired),
    ):
        for row in seen[:rows_shown]:
            reason = f" ({row.reason})" if row.reason else ""
            yield f"{found.table}: {name}: {row.key}: {', '.join(row.what)}{reason}"
        if len(seen) > rows_shown:
            yield f"{found.table}: {name}: and {len(seen) - rows_shown} more"


def _row_fields(seen: Seen) -> dict[str, Any]:
    return {
        "key": seen.key,
        "what": list(seen.what),
        "order": seen.order,
        "reason": seen.reason or None,
    }


def _summary(found: TableFindings) -> str:
    if found.reason:
        return "see below"
    counts = {
        "different": len(found.different),
        "undecided": len(found.undecided),
        "repaired": len(found.repaired),
        "not checked": found.more,
    }
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)
