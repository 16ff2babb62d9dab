"""Distinguishes changes of current rows from changes of history rows in MariaDB's system-versioned
tables, and marks messages of history rows.

MariaDB logs an UPDATE as an update of the current row and an insert of a history row, and a DELETE
as an update that ends the current row. It logs DELETE HISTORY as deletes of history rows.
"""

from dataclasses import replace
from typing import Final

from relay.encode.key import KeyEncoder, key_changed, split_update
from relay.envelope import Header
from relay.errors import RowImageIncomplete
from relay.model.change import RowChange
from relay.model.message import Headers
from relay.model.table import TableDefinition
from relay.model.value import ABSENT, Row

ENDLESS: Final = frozenset({"2038-01-19 03:14:07.999999", "2106-02-07 06:28:15.999999"})
"""The end of the version of every current row (UTC): the greatest TIMESTAMP(6), which MariaDB 11.5
raised.
"""


class RowHistory:
    """Distinguishes the history rows of one table from its current rows.

    keys     encodes the keys of history rows, which contain the end of their version
    headers  headers that mark messages of history rows
    """

    __slots__ = ("_definition", "_end", "headers", "keys")

    def __init__(self, definition: TableDefinition, end: int, keys: KeyEncoder) -> None:
        """`definition` is the table with the key of history rows; it determines the partitions of
        rows.

        `end` is the ordinal of the column that ends a version.
        """
        self.keys = keys
        self.headers: Headers = ((Header.HISTORY.value, definition.map.columns[end].name.encode()),)
        self._definition = definition
        self._end = end

    def holds(self, change: RowChange) -> bool:
        """Return whether a change is about a history row.

        An update that ends a current row must be split first (`halves`). Raises RowImageIncomplete
        if no image has the end of the version.
        """
        if change.before is not None and change.after is not None:
            return self._is_past(self._after(change.before, change.after))
        row = change.before if change.after is None else change.after
        if row is None or row[self._end] is ABSENT:
            raise RowImageIncomplete(
                f"A row of {self._definition.id} lacks the column with the end of its version."
            )
        return self._is_past(row)

    def splits(self, change: RowChange) -> bool:
        """Return whether an update ends a current row, or changes the key of a history row."""
        before, after = change.before, change.after
        if before is None or after is None:
            return False
        past = self.holds(change)
        return past != self._is_past(before) or (past and key_changed(change, self._definition))

    def halves(self, change: RowChange) -> tuple[tuple[RowChange, bool], tuple[RowChange, bool]]:
        """Return the two halves of an update, each as (change, whether it is about a history row):
        the delete of the former row, and the insert of the new one.

        A statement that ends a row changes no other column, so columns that the image before lacks
        are taken from the image after.
        """
        was_past = change.before is not None and self._is_past(change.before)
        is_past = self.holds(change)
        if is_past and not was_past and change.before is not None and change.after is not None:
            change = RowChange(self._filled(change.before, change.after), change.after)
        deleted, inserted = split_update(change)
        return (deleted, was_past), (inserted, is_past)

    def _after(self, before: Row, after: Row) -> Row:
        return before if after[self._end] is ABSENT else after

    def _is_past(self, row: Row) -> bool:
        """Return whether the version of the row has ended.

        No statement updates history rows. So an image before that lacks the end belongs to a
        current row.
        """
        return row[self._end] is not ABSENT and row[self._end] not in ENDLESS

    def _filled(self, before: Row, after: Row) -> Row:
        """Return the image before, with missing columns taken from the image after, except the end
        of the version.
        """
        pairs = enumerate(zip(before, after, strict=True))
        return tuple(
            [
                new if old is ABSENT and ordinal != self._end else old
                for ordinal, (old, new) in pairs
            ]
        )


def as_history(definition: TableDefinition) -> TableDefinition:
    """Return a table whose key is the key of its history rows."""
    return (
        definition
        if definition.versions is None
        else replace(definition, key=definition.versions.key)
    )
