"""Separates changes of current rows and of history rows in a system-versioned table, and marks
messages of the latter.

MariaDB logs an UPDATE as an update of the current row and an insert of a history row, and a DELETE
as an update that ends the current row. DELETE HISTORY is logged as deletes of history rows.
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
"""The end of a current row's version, UTC: the greatest TIMESTAMP(6), which MariaDB raised with
11.5.
"""


class RowHistory:
    """Distinguishes the history rows of one table from its current rows.

    `keys` encodes keys of history rows, which contain the end of the version. `headers` mark their
    messages.
    """

    __slots__ = ("_definition", "_end", "headers", "keys")

    def __init__(self, definition: TableDefinition, end: int, keys: KeyEncoder) -> None:
        """`definition` is the table that determines partitions of rows, with the key of history
        rows.

        `end` is the column that ends a version.
        """
        self.keys = keys
        self.headers: Headers = ((Header.HISTORY.value, definition.map.columns[end].name.encode()),)
        self._definition = definition
        self._end = end

    def holds(self, change: RowChange) -> bool:
        """Return whether a change concerns a history row.

        Pass the halves of an update that ends a row separately. Raises RowImageIncomplete if no
        image has the end of the version.
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
        """Return the delete of the former row and the insert of the new one, each with whether it
        concerns a history row.

        A statement that ends a row changes no other column, so the image after completes the image
        before.
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
        """Return whether the row's version has ended.

        No statement updates history, so a former image without an end belongs to a current row.
        """
        return row[self._end] is not ABSENT and row[self._end] not in ENDLESS

    def _filled(self, before: Row, after: Row) -> Row:
        """Return the image before, completed by columns of the image after, except the end of the
        version.
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
