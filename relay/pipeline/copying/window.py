"""Records which keys of a table the stream changed while a chunk of the table was read (the window
of the chunk).

The window is between two watermarks, positions that `relay.source.chunks` reads and `copy_run`
compares with the stream.
"""

from collections.abc import Iterable
from enum import Enum, auto
from typing import Final

from relay.model.change import RowChange
from relay.model.table import Column, ColumnType, TableId, TableMap
from relay.model.value import ABSENT, Row, Value

MOST_KEYS: Final = 200_000
"""A window with more changed keys is void, so that it stays small."""
Key = tuple[Value, ...]


class Verdict(Enum):
    """The decision about a row of a chunk: publish it, drop it, or read the whole chunk again."""

    PUBLISHED = auto()
    """Publish the row: it did not change while the chunk was read."""
    DROPPED = auto()
    """Drop the row: it changed, and the message of its last change is published."""
    UNKNOWN = auto()
    """Read the chunk again: the row's last change has no message, and may be newer than the row
    that was read.
    """


class Window:
    """Records the keys of a table's changes while a chunk is read, in memory only; used by the
    publishing thread.

    table     the table
    ordinals  the ordinals of the key columns
    columns   the columns of the chunk's rows
    void      why the chunk must be read again; "": it can be used
    """

    def __init__(
        self, table: TableId, ordinals: tuple[int, ...], columns: tuple[Column, ...]
    ) -> None:
        self.table = table
        self.void = ""
        self._ordinals = ordinals
        self._columns = columns
        self._has_message: dict[Key, bool] = {}

    def check_layout(self, live: TableMap) -> None:
        """Make the window void (unusable) if the rows in the stream (`live`) have other key columns
        than the chunk.

        That happens when the stream lags: its rows may be from before an ALTER that the chunk's
        SELECT already saw.
        """
        if len(live.columns) != len(self._columns) or any(
            _differ(live.columns[ordinal], self._columns[ordinal]) for ordinal in self._ordinals
        ):
            self.void = self.void or "the stream's rows have other columns than the table."

    def note(self, rows: Iterable[RowChange], *, has_message: bool) -> None:
        """Record changes of the table, each under its row's key before and after the change.

        `has_message`: True if the changes have messages. The window becomes void if a row gets
        another key without a message, if a row lacks a key column, or if more than MOST_KEYS keys
        have changed.
        """
        if self.void:
            return
        for change in rows:
            images = [row for row in (change.before, change.after) if row is not None]
            keys = [key for row in images if (key := self._key(row, change)) is not None]
            if len(keys) < len(images):
                self.void = "a row image lacks a column of the key."
                return
            if not has_message and keys[0] != keys[-1]:
                self.void = "a row got another key, and no message has all of its columns."
                return
            self._has_message.update(dict.fromkeys(keys, has_message))
        if len(self._has_message) > MOST_KEYS:
            self.void = f"more than {MOST_KEYS} keys changed while it was read."

    @property
    def has_changes(self) -> bool:
        """Return whether the stream changed any row of the table since the window was opened."""
        return bool(self._has_message)

    def verdict(self, row: Row) -> Verdict:
        """Return whether to publish a row of the chunk, drop it, or read the chunk again.

        The decision follows from the changes under the row's key.
        """
        return self.verdict_of(tuple([row[ordinal] for ordinal in self._ordinals]))

    def verdict_of(self, key: Key) -> Verdict:
        """Return the decision about the row with this key."""
        has_message = self._has_message.get(key)
        if has_message is None:
            return Verdict.PUBLISHED
        return Verdict.DROPPED if has_message else Verdict.UNKNOWN

    def _key(self, row: Row, change: RowChange) -> Key | None:
        """Return the key of an image; columns that the image after lacks did not change."""
        key = [row[ordinal] for ordinal in self._ordinals]
        if ABSENT in key and change.before is not None:
            key = [
                change.before[ordinal] if value is ABSENT else value
                for ordinal, value in zip(self._ordinals, key, strict=True)
            ]
        return None if ABSENT in key else tuple(key)


def _differ(live: Column, copied: Column) -> bool:
    """Return whether two columns of a key are not the same; a live one may have no name.

    JSON is in no key, and its values may have no hash.
    """
    return live.type is ColumnType.JSON or live.name.lower() not in ("", copied.name.lower())
