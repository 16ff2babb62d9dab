"""Routes the changes of a real table: to which topics, under which logical name, with
which tags.
"""

from collections.abc import Collection, Container, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from relay.errors import UnmappedName
from relay.model.names.topic_template import (
    database_topics,
    expanded_topics,
    is_template,
)
from relay.model.table import TableId
from relay.route.mapping import MappingSet, Tags
from relay.settings import RoutingSettings


@dataclass(frozen=True, slots=True)
class Destination:
    """Where the rows of a table are published.

    logical  the name in messages, keys and partition rules: the logical name, or the real one with
             `names = "real"`
    topics   the topics
    tags     the tags
    """

    logical: TableId
    topics: tuple[str, ...]
    tags: Tags


@dataclass(frozen=True, slots=True)
class Dropped:
    """Rows of a table, or some of its operations, are not published.

    reason  a sentence for people
    cause   the label `cause` of the counter `dropped_rows`
    """

    reason: str
    cause: str


UNMAPPED: Final = frozenset({"unmapped_table", "unmapped_db"})
"""Causes of tables that are left out because no document lists them or their database."""
Route: TypeAlias = Destination | Dropped


class Router:
    """Routes by one mapping set, under the routing settings of one instance.

    Results are cached, so a row costs one lookup.
    """

    def __init__(self, mapping: MappingSet, settings: RoutingSettings) -> None:
        self.mapping = mapping
        self._settings = settings
        self._routes: dict[TableId, Route] = {}

    @property
    def fixed_default(self) -> tuple[str, ...]:
        """The topic of unmapped databases, as a tuple of one; () if the settings have none, or if
        it is a pattern.
        """
        topic = self._settings.default_topic
        used = self._settings.unmapped_db == "default_topic" and topic is not None
        return (topic,) if used and topic is not None and not is_template(topic) else ()

    def route(self, real: TableId) -> Route:
        """Return where the rows of a real table are published, or why they are dropped.

        Raises UnmappedName if the settings stop the instance for unmapped names, if several regular
        expressions match, or if a topic pattern gives a name that Kafka does not accept.
        """
        route = self._routes.get(real)
        if route is None:
            route = self._routes[real] = self._resolve(real)
        return route

    def destination(self, real: TableId) -> Destination | None:
        """Return where the rows of a real table are published; None if they are dropped, or if they
        would stop the instance.
        """
        try:
            route = self.route(real)
        except UnmappedName:
            return None
        return route if isinstance(route, Destination) else None

    def route_database(self, real: str) -> Route:
        """Return where a statement is published that is about the database `real` and names no
        table, such as CREATE DATABASE; or why it is dropped.

        In the result the table's name is "", and there are no tags. Raises UnmappedName.
        """
        logical = self.mapping.logical_database(real)
        if logical is None:
            return self._unmapped_database(TableId(real, ""), Tags((), ()))
        name = real if self._settings.names == "real" else logical
        topics = database_topics(self.mapping.topics(logical), logical)
        return Destination(TableId(name, ""), topics, Tags((), ()))

    def tables_of(
        self, real: str, tables: Iterable[TableId], topics: Container[str]
    ) -> dict[str, Destination]:
        """Return topic → destination of a table, for each of `topics` to which a table of the real
        database `real` is routed. `tables` are the known tables of the database.

        A statement about a database does not name its tables, and the name of a topic does not show
        which tables it has.
        """
        found: dict[str, Destination] = {}
        for table in sorted(each for each in tables if each.database == real):
            goes = self.destination(table)
            if goes is None:
                continue
            for topic in goes.topics:
                if topic in topics:
                    found.setdefault(topic, Destination(goes.logical, (topic,), Tags((), ())))
        return dict(sorted(found.items()))

    def _resolve(self, real: TableId) -> Route:
        database = self.mapping.logical_database(real.database)
        if database is None:
            return self._unmapped_database(real, self.mapping.tags(real))
        table = self.mapping.logical_table(real, database)
        if table is None and self._settings.unmapped_table != "same_name":
            return self._unmapped_table(real)
        logical = TableId(database, table or real.table)
        name = real if self._settings.names == "real" else logical
        tags = self.mapping.tags(logical)
        topics = expanded_topics(self.mapping.topics(database), logical, tags.table)
        if not self.mapping.has_tag_entry(logical):
            tags = Tags((name.table,), ())  # the name that its messages carry
        return Destination(name, topics, tags)

    def _unmapped_table(self, real: TableId) -> Dropped:
        if self._settings.unmapped_table == "stop":
            raise UnmappedName(f"No table mapping lists {real}.")
        return Dropped('no table mapping lists it, and unmapped_table is "drop".', "unmapped_table")

    def _unmapped_database(self, real: TableId, tags: Tags) -> Route:
        if self._settings.unmapped_db == "stop":
            raise UnmappedName(
                f"No database mapping lists {real.database or 'a statement without a database'}."
            )
        if self._settings.unmapped_db == "drop" or self._settings.default_topic is None:
            return Dropped(
                'no database mapping lists its database, and unmapped_db is "drop".', "unmapped_db"
            )
        default = (self._settings.default_topic,)
        topics = (
            expanded_topics(default, real, tags.table)
            if real.table
            else database_topics(default, real.database)
        )
        return Destination(real, topics, tags)


def tags_for(destination: Destination, changed_columns: Collection[str] | None) -> tuple[str, ...]:
    """Return the tags of one change: those of its table, then those of its changed fields.

    `changed_columns` None: an insert or delete, which changes every field.
    """
    return tuple(
        dict.fromkeys(destination.tags.table + field_tags_for(destination, changed_columns))
    )


def field_tags_for(
    destination: Destination, changed_columns: Collection[str] | None
) -> tuple[str, ...]:
    """Return only the tags of the changed fields.

    Names are compared case-insensitively, as MySQL compares column names. `changed_columns` None:
    an insert or delete, which changes every field.
    """
    fields = destination.tags.fields
    if not fields or changed_columns is None:
        return tuple(dict.fromkeys(tag for _, tag in fields))
    touched = {column.lower() for column in changed_columns}
    return tuple(dict.fromkeys(tag for field, tag in fields if field.lower() in touched))
