"""Summarizes the change of a row in a few words."""

from typing import Final

from relay.envelope import MessageType
from relay.operations import PeekedColumn, PeekedRow

_NAMES: Final = 4
_CHARACTERS: Final = 40


def change_summary(row: PeekedRow) -> str:
    """Return a short text about the change of a row, for a list of rows.

    It has the old and the new value if one column has changed, otherwise the names of the changed
    columns. For an insert it is the number of columns, for a delete "whole row". For a row that is
    stored outside of Kafka (claim check) it is the sentence that says so.
    """
    if row.claim:
        return row.claim
    if row.operation == MessageType.INSERT:
        return f"{len(row.columns)} column{'' if len(row.columns) == 1 else 's'}"
    if row.operation == MessageType.DELETE:
        return "whole row"
    changed = [each for each in row.columns if each.changed]
    if len(changed) == 1 and (told := _values(changed[0])):
        return told
    names = ", ".join(each.name for each in changed[:_NAMES])
    more = len(changed) - _NAMES
    if not names:
        return "no column that is shown"
    return f"{names} and {more} more" if more > 0 else names


def _values(column: PeekedColumn) -> str:
    """Return both values; empty if they are hidden or long."""
    texts = ["NULL" if each is None else each for each in (column.before, column.after)]
    if column.hidden or any(len(each) > _CHARACTERS for each in texts):
        return ""
    return f"{column.name}: {texts[0]} to {texts[1]}"
