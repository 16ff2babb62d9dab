"""The window of one chunk: the keys of its table that changed between its two watermarks.

`relay.source.chunks` reads the watermarks; `copy_run` compares them with the stream.
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
    """The treatment of a row that was read in a window."""

    PUBLISHED = auto()
    """It did not change."""
    DROPPED = auto()
    """It changed, and the message of its last change is published."""
    UNKNOWN = auto()
    """Its last change has no message, and may be newer than the row that was read."""


class Window:
    """Records the keys of a table's changes, in memory only; used by the publishing thread.

    `ordinals` are those of the columns that identify a row, of all the `columns` of the rows that
    are
    read. `void` says why the chunk must be read
    again, "" while it need not.
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
        """Void the window if the stream's rows have other columns, so that no key is found in them.

        A stream that lags brings rows of before an ALTER that the SELECT has already seen.
        """
        if len(live.columns) != len(self._columns) or any(
            _differ(live.columns[ordinal], self._columns[ordinal]) for ordinal in self._ordinals
        ):
            self.void = self.void or "the stream's rows have other columns than the table."

    def note(self, rows: Iterable[RowChange], *, has_message: bool) -> None:
        """Note changes of the table: both keys of each, and whether its message is published.

        A row that gets another key without a message may move from the rest of the table to among
        the rows that were read, so the window is void.
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
        """Whether the stream changed any key of the chunk."""
        return bool(self._has_message)

    def verdict(self, row: Row) -> Verdict:
        """Return the verdict on a row: unchanged, changed with a message, or unknown."""
        return self.verdict_of(tuple([row[ordinal] for ordinal in self._ordinals]))

    def verdict_of(self, key: Key) -> Verdict:
        """Return the treatment of the row with a key."""
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
    """Whether two columns of a key are not the same; a live one may have no name.

    JSON is in no key, and its values may have no hash.
    """
    return live.type is ColumnType.JSON or live.name.lower() not in ("", copied.name.lower())
