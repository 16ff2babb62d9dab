"""The copies of tables that operators ask for, and what no request may have."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from relay.errors import SnapshotRefused
from relay.model.source_rows.condition import condition_problem

MOST_KEYS: Final = 1000
"""Keys of one request."""
MOST_REQUESTS: Final = 10_000
"""Requests that one call makes; their numbers have four hexadecimal digits."""
_PLAIN_CONDITION: Final = (
    "Compare columns of the table with values, without subqueries, comments and backslashes; "
    "write X'5C' for a backslash."
)


@dataclass(frozen=True, slots=True)
class WantedSnapshot:
    """The request of an operator: tables by logical names, a condition, a topic, a rate.

    `keys`: only the rows with these keys, each the texts of its columns; () for all.
    """

    tables: tuple[str, ...]
    where: str = ""
    to_topic: str = ""
    rows_per_second: int = 0
    priority: int = 0
    keys: tuple[tuple[str, ...], ...] = ()


def check_wanted(wanted: Sequence[WantedSnapshot]) -> None:
    """Raise SnapshotRefused for more than MOST_REQUESTS requests, and for tables, a condition or
    keys that no request may have.
    """
    if len(wanted) > MOST_REQUESTS:
        raise SnapshotRefused(
            f"{len(wanted):,} requests are more than {MOST_REQUESTS:,}.",
            remedy="Divide the report, or copy the tables that differ in so many rows.",
        )
    for each in wanted:
        _check_one(each)


def _check_one(wanted: WantedSnapshot) -> None:
    """Raise SnapshotRefused for tables without a database, bad conditions, and too many keys."""
    for table in wanted.tables:
        if not all(table.partition(".")):
            raise SnapshotRefused(
                f"{table!r} is no table.", remedy="Name it as database.table, by logical names."
            )
    if problem := condition_problem(wanted.where):
        raise SnapshotRefused(f"The condition is refused: {problem}.", remedy=_PLAIN_CONDITION)
    if len(wanted.keys) > MOST_KEYS:
        raise SnapshotRefused(
            f"{len(wanted.keys)} keys are more than {MOST_KEYS}.",
            remedy="Name them in several requests, or copy the table.",
        )
