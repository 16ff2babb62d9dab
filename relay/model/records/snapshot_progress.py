"""The progress of a snapshot request, as the position record holds it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final

from relay.model.source_rows.texts import names_charset

MOST_TABLES: Final = 5_000
"""Largest number of tables of one request, so that the position record stays below 100 kB."""
MOST_OTHER_KEYS: Final = 10
"""Largest number of keys in `SnapshotProgress.other_keys`."""
_LISTS: Final = ("key", "key_types", "after", "finished", "other_keys")
_MARK_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class SnapshotProgress:
    """The published progress of one request to copy tables.

    table       the real table (`database.table`) that is being copied, "" before the first one
    key         names of the key columns by which it is read
    key_types   type and collation of each of these columns
    after       key of the last row that was read, as texts; () before the first chunk
    rows        published rows of the request so far
    tables      number of tables that are copied completely
    finished    marks (`mark`) of these tables, and of tables that are left out
    done        whether every table is copied
    paused      whether an operator paused the relay's own request before its first chunk
    other_keys  message keys of published rows that the request names in another spelling, such as
                another letter case; at most MOST_OTHER_KEYS
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
    other_keys: tuple[str, ...] = ()

    @property
    def record_format(self) -> int:
        """The oldest format of the position record that holds this progress.

        Format 8 has `paused`. Format 10 has `other_keys`, and keys that name their character set.
        """
        if self.other_keys or any(map(names_charset, self.after)):
            return 10
        return 8 if self.paused else 6

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

    def with_other_keys(self, keys: Sequence[str]) -> "SnapshotProgress":
        """Return the progress with further keys that the request names in another spelling."""
        named = dict.fromkeys((*self.other_keys, *keys))
        return replace(self, other_keys=tuple(named)[:MOST_OTHER_KEYS])

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


def leave_out_newer(snapshots: Mapping[str, dict[str, Any]]) -> None:
    """Remove empty fields that formats before 8 and 10 lack from the JSON of progress."""
    for fields in snapshots.values():
        for name in ("paused", "other_keys"):
            if not fields[name]:
                del fields[name]


def mark(table: str) -> str:
    """Return the mark of a table in `finished`: 16 hexadecimal digits of a digest of its name."""
    return sha256(table.encode()).digest()[:_MARK_BYTES].hex()
