"""Choose: where the changes of a real table go, under which name and with which tags."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeAlias

from relay.errors import UnmappedName
from relay.model.table import TableId
from relay.route.mapping import MappingSet, Tags
from relay.settings import RoutingSettings


@dataclass(frozen=True, slots=True)
class Destination:
    """`logical` is the name that messages, keys and partition rules use: the logical one, or the
    real one with names = "real".
    """

    logical: TableId
    topics: tuple[str, ...]
    tags: Tags


@dataclass(frozen=True, slots=True)
class Dropped:
    """The change is left out, as configured.

    `reason` is a sentence for whoever wonders where the table went, `cause` one word for it.
    """

    reason: str
    cause: str


Route: TypeAlias = Destination | Dropped


class Router:
    """One mapping set under one instance's routing settings.

    Answers are kept, so a row costs one look-up.
    """

    def __init__(self, mapping: MappingSet, settings: RoutingSettings) -> None:
        self.mapping = mapping
        self._settings = settings
        self._routes: dict[TableId, Route] = {}

    def route(self, real: TableId) -> Route:
        """Say where a real table's changes go.

        Raises UnmappedName where the settings or two mapping expressions say stop.
        """
        route = self._routes.get(real)
        if route is None:
            route = self._routes[real] = self._resolve(real)
        return route

    def route_database(self, real: str) -> Route:
        """The same for a statement that names no table, as CREATE DATABASE.

        The table in the answer is empty and it has no tags.
        """
        logical = self.mapping.logical_database(real)
        if logical is None:
            return self._unmapped_database(TableId(real, ""), Tags((), ()))
        name = real if self._settings.names == "real" else logical
        return Destination(TableId(name, ""), self.mapping.topics(logical), Tags((), ()))

    def _resolve(self, real: TableId) -> Route:
        database = self.mapping.logical_database(real.database)
        if database is None:
            return self._unmapped_database(real, self.mapping.tags(real))
        table = self.mapping.logical_table(real, database)
        if table is None and self._settings.unmapped_table != "same_name":
            return self._unmapped_table(real)
        logical = TableId(database, table or real.table)
        name = real if self._settings.names == "real" else logical
        return Destination(name, self.mapping.topics(database), self._tags(logical, name))

    def _tags(self, logical: TableId, name: TableId) -> Tags:
        """Look tags up by the logical name.

        A table without an entry is tagged with the name that its messages carry.
        """
        tags = self.mapping.tags(logical)
        return Tags((name.table,), ()) if tags == Tags((logical.table,), ()) else tags

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
        return Destination(real, (self._settings.default_topic,), tags)


def tags_for(destination: Destination, changed_columns: Collection[str] | None) -> tuple[str, ...]:
    """Return the tags of one change: its table's, then those of the fields it touches.

    None: an insert or delete touches all.
    """
    return tuple(
        dict.fromkeys(destination.tags.table + field_tags_for(destination, changed_columns))
    )


def field_tags_for(
    destination: Destination, changed_columns: Collection[str] | None
) -> tuple[str, ...]:
    """Return only the tags of the fields that a change touches.

    MySQL's column names know no case, so neither does this.
    """
    fields = destination.tags.fields
    if not fields or changed_columns is None:
        return tuple(dict.fromkeys(tag for _, tag in fields))
    touched = {column.lower() for column in changed_columns}
    return tuple(dict.fromkeys(tag for field, tag in fields if field.lower() in touched))
