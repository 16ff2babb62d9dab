"""The progress of a snapshot request, as the position record holds it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final

MOST_TABLES: Final = 5_000
"""Largest number of tables of one request, so that the position record stays below 100 kB."""
_LISTS: Final = ("key", "key_types", "after", "finished")
_MARK_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class SnapshotProgress:
    """The published progress of one request to copy tables.

    table      the real table (`database.table`) that is being copied, "" before the first one
    key        names of the key columns by which it is read
    key_types  type and collation of each of these columns
    after      key of the last row that was read, as texts; () before the first chunk
    rows       published rows of the request so far
    tables     number of tables that are copied completely
    finished   marks (`mark`) of these tables, and of tables that are left out
    done       whether every table is copied
    paused     whether an operator paused the relay's own request before its first chunk
    """

    table: str = ""
    key: tuple[str, ...] = ()
    key_types: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    rows: int = 0
    tables: int = 0
    finished: tuple[str, ...] = ()
    done: bool = False
    paused: bool = False

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> "SnapshotProgress":
        """Read the progress from JSON fields. Raises TypeError for unknown or missing fields."""
        plain: dict[str, Any] = dict(fields)
        plain |= {name: tuple(fields[name]) for name in _LISTS if name in fields}
        return cls(**plain)

    def finishing(self, table: str) -> "SnapshotProgress":
        """Return the progress after all rows of a table were read."""
        kept = tuple(dict.fromkeys((*self.finished, mark(table))))
        return replace(self, table=table, key=(), key_types=(), after=(), finished=kept)

    def begun_again(self) -> "SnapshotProgress":
        """Return the progress with which the present table is copied again from its first chunk."""
        return replace(self, after=(), done=False)

    def renamed(self, tables: Collection[str]) -> "SnapshotProgress":
        """Return the progress after a statement that may have given these names to other tables.

        If the present table has such a name, it is copied again from its beginning. Names are
        compared case-insensitively, because a server may store them in lower case.
        """
        names = frozenset((*tables, *map(str.lower, tables)))
        marks = frozenset(map(mark, names))
        kept = tuple(each for each in self.finished if each not in marks)
        begun = self.table in names and self.after
        if kept == self.finished and not begun:
            return self
        after = () if begun else self.after
        return replace(self, after=after, finished=kept, done=False)


def leave_out_unpaused(snapshots: Mapping[str, dict[str, Any]]) -> None:
    """Remove `paused` where it is False from the JSON of progress, because formats before 8 lack
    it.
    """
    for fields in snapshots.values():
        if not fields["paused"]:
            del fields["paused"]


def mark(table: str) -> str:
    """Return the mark of a table in `finished`: 16 hexadecimal digits of a digest of its name."""
    return sha256(table.encode()).digest()[:_MARK_BYTES].hex()
