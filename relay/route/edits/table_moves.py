"""Which topics the tables of a logical database leave or get between two mapping sets, and which
instances still publish by an older set. Pure.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from relay.errors import UnmappedName
from relay.model.names.topic_template import expanded_topics, is_template, table_of_topic
from relay.model.table import TableId
from relay.route.mapping import MappingSet

_TAG: Final = "{tag}"


class TableMove(NamedTuple):
    """Mapping set `number` gives tables of a logical database other topics: their rows were
    published to `topic`, and are published to `to` from then on.

    `to` has topics and patterns; it is empty if the database is no longer mapped.
    """

    database: str
    topic: str
    to: tuple[str, ...]
    number: int


def table_moves(before: MappingSet, after: MappingSet, fed: Iterable[str]) -> Iterator[TableMove]:
    """Yield the moves between two mapping sets away from the topics `fed`, to which an instance
    publishes.

    A database with `{tag}` in its topics has no moves, because its topics depend on the tags of
    each table.
    """
    topics = sorted(fed)
    for database, former in sorted(before.topics_by_database.items()):
        to = after.topics_by_database.get(database, ())
        if set(former) <= set(to) or any(_TAG in each for each in (*former, *to)):
            continue
        for topic in topics:
            table = _table_of(topic, former, database)
            if table is not None and topic not in _expanded(to, table):
                yield TableMove(database, topic, to, after.number)


def table_arrivals(
    before: MappingSet, after: MappingSet, fed: Iterable[str]
) -> Iterator[TableMove]:
    """Yield the topics of `fed` that tables of a database get between two mapping sets.

    In each result, `topic` is such a topic, and `to` are all topics of the database.
    """
    for back in table_moves(after, before, fed):
        to = after.topics_by_database[back.database]
        yield TableMove(back.database, back.topic, to, after.number)


class EarlyReturn(NamedTuple):
    """Mapping set `number` gives the tables of `database` the topic `topic` again too early.

    `behind` are the instances that still publish under a set from before the tables left that
    topic.
    """

    database: str
    topic: str
    number: int
    behind: tuple[str, ...]


def early_returns(
    before: MappingSet,
    after: MappingSet,
    fed: Collection[str],
    published: Callable[[str], Mapping[str, int | None]],
    saved: Callable[[int], MappingSet | None],
) -> Iterator[EarlyReturn]:
    """Yield the topics that tables get back too early if the mapping changes from `before` to
    `after` (ADR 81).

    `published` returns the instances that publish to a topic, each with the set in its last
    position record. None: unknown, which counts as set 0. `saved` returns an older set, None if it
    cannot be read.
    """
    for move in table_arrivals(before, after, fed):
        numbers = {name: number or 0 for name, number in published(move.topic).items()}
        lowest = min(numbers.values(), default=before.number)
        sets = (saved(number) for number in range(lowest, before.number))
        had = [
            each.number
            for each in sets
            if each is not None and has_topic(each.topics_by_database, move.database, move.topic)
        ]
        behind = [name for name, number in numbers.items() if number <= max(had, default=-1)]
        if behind:
            yield EarlyReturn(move.database, move.topic, after.number, tuple(sorted(behind)))


def has_topic(topics: Mapping[str, tuple[str, ...]], database: str, topic: str) -> bool:
    """Return whether a database has a topic, by name or by a pattern. `topics` are the
    `topics_by_database` of a mapping set.
    """
    return _table_of(topic, topics.get(database, ()), database) is not None


def _table_of(topic: str, former: tuple[str, ...], database: str) -> TableId | None:
    """Return the table whose rows are in a topic; a table without a name if the topic has all
    tables of the database.

    None if the database did not have the topic.
    """
    if topic in former:
        return TableId(database, "")
    found = (table_of_topic(each, topic, database) for each in former if is_template(each))
    return next((each for each in found if each is not None), None)


def _expanded(to: tuple[str, ...], table: TableId) -> tuple[str, ...]:
    """Return the topics of a table. For a table without a name, return those without `{table}`."""
    known = [each for each in to if table.table or "{table}" not in each]
    try:
        return expanded_topics(known, table, ())
    except UnmappedName:
        return ()
