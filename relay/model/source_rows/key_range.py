"""Ranges of a table along its key, in the source's own order. The key may have any types and any
number of columns.

A range has two boundaries, which are keys of the table. It excludes the first and includes the
last. Even if the rows at its boundaries were deleted, or their texts are inexact, two adjacent
ranges use the same boundary. So ranges neither overlap nor leave a gap.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from relay.model.source_rows.columns import SourceColumn
from relay.model.source_rows.texts import key_expression, literal

Boundary: TypeAlias = tuple[str, ...]
"""The texts of one key, as `boundary_text` gives them."""


@dataclass(frozen=True, slots=True)
class KeyRange:
    """The rows whose keys are after `after`, up to and including `until`. None: from the begin, or
    to the end, of the table.
    """

    after: Boundary | None = None
    until: Boundary | None = None

    def where(self, key: Sequence[SourceColumn]) -> str:
        """Return the SQL condition for the rows of the range."""
        conditions = []
        if self.after is not None:
            conditions.append(_compared(key, self.after, ">", last=">"))
        if self.until is not None:
            conditions.append(_compared(key, self.until, "<", last="<="))
        return " AND ".join(conditions) or "TRUE"


def _compared(key: Sequence[SourceColumn], texts: Boundary, operator: str, *, last: str) -> str:
    """Return the SQL condition column by column. Servers use an index for this form, but not for
    `(a, b) > (x, y)`.
    """
    first, value = key_expression(key[0]), literal(key[0], texts[0])
    if len(key) == 1:
        return f"{first} {last} {value}"
    rest = _compared(key[1:], texts[1:], operator, last=last)
    return f"({first} {operator}= {value} AND ({first} {operator} {value} OR ({rest})))"
