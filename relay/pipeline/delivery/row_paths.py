"""Formats for the status which paths (compiled or readable) printed rows.

Keys of the counts are (path, reason) or (real table, path, reason).
"""

from collections import Counter
from collections.abc import Mapping
from typing import TypeAlias

from relay.model.row_path import RowPath
from relay.model.table import TableId

PathAndReason: TypeAlias = tuple[RowPath, str]


def paths_in_words(printed: Mapping[PathAndReason, int]) -> str:
    """Return the names of the paths that printed rows, separated by commas, the most used first; ""
    without rows.
    """
    rows: Counter[str] = Counter()
    for (path, _), count in list(printed.items()):
        rows[path] += count
    return ", ".join(path for path, count in rows.most_common() if count)


def rows_by_path(printed: Mapping[PathAndReason, int]) -> dict[str, int]:
    """Return the number of printed rows by path, with the reason if it is the slow path:
    `{"compiled": 9, "readable: value": 1}`.
    """
    return {_path(path, reason): count for (path, reason), count in list(printed.items())}


def paths_of_tables(
    printed: Mapping[tuple[TableId, RowPath, str], int],
) -> dict[str, dict[str, int]]:
    """Return for each real table the number of printed rows by path, in the form of `rows_by_path`.
    Tables are sorted by name.
    """
    found: dict[str, dict[str, int]] = {}
    for (table, path, reason), count in sorted(printed.items()):
        found.setdefault(str(table), {})[_path(path, reason)] = count
    return found


def _path(path: str, reason: str) -> str:
    return f"{path}: {reason}" if reason else str(path)
