"""Describes copy requests as operators state them, and checks their contents."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from relay.errors import SnapshotRefused
from relay.model.names.own_topics import is_own_topic
from relay.model.names.topic_template import DDL_SUFFIX, is_template, topic_mistakes
from relay.model.source_rows.condition import condition_problem

MOST_KEYS: Final = 1000
"""Largest number of keys of one request."""
MOST_REQUESTS: Final = 10_000
"""Largest number of requests that one call creates. Their numbers have four hexadecimal digits."""
_PLAIN_CONDITION: Final = (
    "Compare columns of the table with values, without subqueries, comments and backslashes; "
    "write X'5C' for a backslash."
)


@dataclass(frozen=True, slots=True)
class WantedSnapshot:
    """A copy request as an operator states it: logical tables, an SQL condition (`where`), keys, a
    topic, a rate limit and a priority.

    `keys`: only the rows with these keys, each as the texts of its columns; () for all rows.
    """

    tables: tuple[str, ...]
    where: str = ""
    to_topic: str = ""
    rows_per_second: int = 0
    priority: int = 0
    keys: tuple[tuple[str, ...], ...] = ()


def check_wanted(wanted: Sequence[WantedSnapshot], installation: str) -> None:
    """Raise SnapshotRefused for more than MOST_REQUESTS requests, or if one of them is invalid.

    The tables, condition, topic and keys of each request are checked. The topic must not be one of
    the installation's own topics; `installation` is its name.
    """
    if len(wanted) > MOST_REQUESTS:
        raise SnapshotRefused(
            f"The report needs {len(wanted):,} requests, and at most {MOST_REQUESTS:,} are "
            "allowed at a time.",
            remedy="Divide the report, or copy the tables with so many differing rows as a whole.",
        )
    for each in wanted:
        _check_one(each)
        _check_topic(each.to_topic, installation)


def _check_topic(topic: str, installation: str) -> None:
    """Raise SnapshotRefused for a topic that cannot receive rows. "" means no topic."""
    problem = ""
    if topic and is_template(topic):
        problem = "A copy goes to one topic, and this name is a pattern."
    elif topic.endswith(DDL_SUFFIX):
        problem = (
            f"It is the topic of statements about the tables of {topic.removesuffix(DDL_SUFFIX)}."
        )
    elif is_own_topic(topic, installation):
        problem = "It is a topic of the relay itself."
    elif topic:
        problem = next(topic_mistakes(topic), "")
    if problem:
        raise SnapshotRefused(
            f"Topic {topic!r} cannot receive copied rows: {problem}", remedy="Name another topic."
        )


def _check_one(wanted: WantedSnapshot) -> None:
    """Raise SnapshotRefused for tables without a database, bad conditions, and too many keys."""
    for table in wanted.tables:
        if not all(table.partition(".")):
            raise SnapshotRefused(
                f"{table!r} is not a logical table name.",
                remedy="Write the name as database.table.",
            )
    if problem := condition_problem(wanted.where):
        raise SnapshotRefused(f"The condition is refused: {problem}.", remedy=_PLAIN_CONDITION)
    if len(wanted.keys) > MOST_KEYS:
        raise SnapshotRefused(
            f"The request names {len(wanted.keys)} keys, and at most {MOST_KEYS} are allowed.",
            remedy="Divide the keys among several requests, or copy the table.",
        )
