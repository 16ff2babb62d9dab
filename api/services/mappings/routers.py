"""Caches routers, which map real tables to topics, and table filters.

Instances with equal settings share them while one or two mapping sets are examined.
"""

from typing import Protocol

from relay.route import MappingSet, Router, TableFilter
from relay.settings import FilterSettings, RoutingSettings


class Routing(Protocol):
    """The settings by which one instance, or several with equal settings, route tables."""

    @property
    def routing(self) -> RoutingSettings:
        """The settings by which names are mapped."""

    @property
    def filter(self) -> FilterSettings:
        """The settings by which tables are relayed or skipped."""


class Routers:
    """Caches the routers and table filters of one examination of mapping sets, for instances with
    equal settings.
    """

    def __init__(self) -> None:
        self._routers: dict[tuple[int, RoutingSettings], Router] = {}
        self._filters: dict[FilterSettings, TableFilter] = {}

    def router(self, mapping: MappingSet, instance: Routing) -> Router:
        """Return the router of an instance under a mapping set."""
        by = id(mapping), instance.routing  # the router keeps the set, so that no other has its id
        found = self._routers.get(by)
        if found is None:
            found = self._routers[by] = Router(mapping, instance.routing)
        return found

    def filter(self, instance: Routing) -> TableFilter:
        """Return the table filter of an instance."""
        found = self._filters.get(instance.filter)
        if found is None:
            found = self._filters[instance.filter] = TableFilter(instance.filter)
        return found
