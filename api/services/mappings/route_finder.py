"""Finds routes in both directions: the topic of a real table, and the tables of a topic, logical
name or tag.
"""

from collections.abc import Callable
from dataclasses import dataclass

from api.errors import BadRequest
from api.models.mappings.route import RouteView
from api.services.mappings.logical_tables import LogicalTable
from api.services.mappings.logical_view import LogicalViews
from api.services.mappings.mapping_archive import MappingArchive
from api.services.mappings.matching_rules import MatchingRule, matching_rules
from api.services.mappings.table_route import TableRoute
from relay.errors import UnmappedName
from relay.model.table import TableId
from relay.operations import DefinedInstances
from relay.state import InstanceStore


@dataclass(frozen=True, slots=True)
class FoundRoute:
    """The route of a real table for one instance, or for several that route the table alike.

    view   the route
    rules  the entries that decide it; empty if a filter excludes the table
    met    True: the instance has read the table
    """

    view: RouteView
    rules: tuple[MatchingRule, ...]
    met: bool


class RouteFinder:
    """Finds routes in the active set, for the tables that relays have read and for others."""

    def __init__(
        self,
        archive: MappingArchive,
        route: TableRoute,
        logical: LogicalViews,
        notes: InstanceStore,
        defined: Callable[[], DefinedInstances],
    ) -> None:
        self._archive = archive
        self._route = route
        self._logical = logical
        self._notes = notes
        self._defined = defined

    def routes(self, real: TableId) -> list[FoundRoute]:
        """Return the table's route for each instance that has read the table.

        If no instance has read it, return the routes of all instances; equal routes appear once.
        Raises ActiveSetBroken.
        """
        names = [each.name for each in self._defined().settings]
        known = self._notes.tables_of_each(names)
        met = [each for each in names if str(real) in known[each]]
        rules = self.rules(real)
        found: dict[str, FoundRoute] = {}
        asked: list[str | None] = [*(met or names)]
        for name in asked or [None]:
            view = self._route.of(real, name)
            key = name if met and name else view.sentence
            applying = () if view.filtered else rules
            found.setdefault(key, FoundRoute(view, applying, met=bool(met)))
        return list(found.values())

    def rules(self, real: TableId) -> tuple[MatchingRule, ...]:
        """Return the entries of the documents that apply to a real table; empty if two expressions
        match the table.

        Raises ActiveSetBroken.
        """
        stored, mapping = self._archive.active(), self._archive.compiled()
        try:
            return tuple(matching_rules(mapping, stored.bodies, real))
        except UnmappedName:
            return ()

    def feeding(self, topic: str = "", logical: str = "", tag: str = "") -> list[LogicalTable]:
        """Return the logical tables that have this topic, this name, or this tag.

        Raises BadRequest unless exactly one parameter is given, ActiveSetBroken.
        """
        if sum(bool(each) for each in (topic, logical, tag)) != 1:
            raise BadRequest("Give exactly one of topic, logical and tag.")
        return self._tables(topic, logical, tag)

    def named(self, name: str) -> list[LogicalTable]:
        """Return the logical tables whose name (with or without its database), topic or tag equals
        `name`.

        Raises ActiveSetBroken.
        """
        return self._tables(name, name, name)

    def _tables(self, topic: str, logical: str, tag: str) -> list[LogicalTable]:
        return [
            each
            for each in self._logical.mapping().tables
            if topic in each.topics
            or logical in (str(each.name), each.name.table)
            or tag in each.tags.table
            or tag in [name for _, name in each.tags.fields]
        ]
