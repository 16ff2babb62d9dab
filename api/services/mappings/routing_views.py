"""Groups instances that route every table alike, and describes the effects of an edit on them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from api.errors import BadRequest, NoSuchThing
from api.services.mappings.consequences import CONSEQUENCES
from api.services.mappings.routers import Routers
from relay.model.table import TableId, tables_named
from relay.route import (
    ChangeKind,
    Documents,
    MappingSet,
    Router,
    TableFilter,
    changes,
    left_out_of_report,
)
from relay.route.mapping_document import read_documents
from relay.settings import FilterSettings, InstanceSettings, RoutingSettings

ANY_OTHER_TABLE = "*"
"""Represents the tables of a database that no document names. MySQL has no table of this name."""


@dataclass(frozen=True, slots=True)
class RoutingView:
    """Instances that route every table alike.

    instances  their names
    routing    their routing settings, which are equal
    filter     their filter, which is equal too
    """

    instances: tuple[str, ...]
    routing: RoutingSettings
    filter: FilterSettings

    def router(self, mapping: MappingSet) -> Router:
        """Return the router of these instances under a mapping set."""
        return Router(mapping, self.routing)

    def table_filter(self) -> TableFilter:
        """Return the filter of real table names."""
        return TableFilter(self.filter)


@dataclass(frozen=True, slots=True)
class RouteEffect:
    """A sentence about the effect of an edit on some instances.

    instances  names of the instances
    sentence   the effect
    tables     real tables that the effect concerns
    kind       kind of the change, which decides the text of `consequence`
    """

    instances: tuple[str, ...]
    sentence: str
    tables: tuple[str, ...]
    kind: ChangeKind = "note"

    @property
    def consequence(self) -> str:
        """Return a sentence about the effect on consumers; "" if there is none."""
        return CONSEQUENCES[self.kind]


def routing_views(instances: Sequence[InstanceSettings]) -> tuple[RoutingView, ...]:
    """Group the instances by routing settings and filter.

    Without instances, return one view with the default settings.
    """
    groups: dict[tuple[RoutingSettings, FilterSettings], list[str]] = {}
    for instance in instances:
        groups.setdefault((instance.routing, instance.filter), []).append(instance.name)
    views = (
        RoutingView(tuple(names), routing, filter_) for (routing, filter_), names in groups.items()
    )
    return tuple(views) or (RoutingView((), RoutingSettings(), FilterSettings()),)


def view_of(views: Sequence[RoutingView], instance: str | None) -> RoutingView:
    """Return the view that contains an instance; if `instance` is None, the only view.

    Raises NoSuchThing for an unknown instance, BadRequest if no instance is named and several views
    exist.
    """
    if instance is not None:
        for view in views:
            if instance in view.instances:
                return view
        raise NoSuchThing(
            f"Neither the admin's configuration file nor a document of ZooKeeper defines an "
            f"instance {instance!r}."
        )
    if len(views) > 1:
        names = ", ".join(name for view in views for name in view.instances)
        raise BadRequest(
            "The instances route names differently, so the answer depends on the instance.",
            remedy=f"Add the parameter `instance` with one of: {names}.",
        )
    return views[0]


def changes_between(
    views: Iterable[RoutingView],
    before: MappingSet,
    after: MappingSet,
    tables: Iterable[TableId],
    routers: Routers | None = None,
) -> list[RouteEffect]:
    """Return how the route of each table changes from the set `before` to the set `after`.

    views    the groups of instances that route alike; each has its own changes
    before   the set without the edit
    after    the set with the edit
    tables   the real tables to compare; those that the filter of a view excludes are omitted
    routers  routers to reuse; None: new ones are made
    """
    known, shared = list(tables), routers or Routers()
    found: list[RouteEffect] = []
    for view in views:
        names = shared.filter(view)
        passing = [
            table
            for table in known
            if (
                names.may_accept_of(table.database)
                if table.table == ANY_OTHER_TABLE
                else names.accepts(table)
            )
        ]
        found += [
            RouteEffect(
                view.instances, change.sentence, tuple(map(str, change.tables)), change.kind
            )
            for change in changes(shared.router(before, view), shared.router(after, view), passing)
        ]
    return found


def tables_to_speak_of(
    sets: Sequence[tuple[MappingSet, Documents]], met: Iterable[str]
) -> tuple[set[TableId], list[RouteEffect]]:
    """Return the tables whose routes a preview compares, and a sentence about tables that it omits.

    These are the tables in `met` (real tables that relays have read), the tables in the documents,
    and `database.*` (any other table) for each named database.

    A rule without a database names its table in every mapped database. Such a table is omitted for
    one of the databases if relays have read other tables of that database, but this table only in
    other databases: then it probably does not exist there. If the documents name too many tables,
    all tables that only the documents name are omitted, and the second value says so.
    """
    read = tables_named(met)
    tables = set(read)
    left_out = [
        RouteEffect((), each.sentence, ())
        for each in left_out_of_report(mapping for mapping, _ in sets)
    ]
    for mapping, documents in sets:
        if not left_out:
            tables.update(_possible(mapping.named_tables, read))
        for placed in read_documents(documents)[0].dbs:
            tables.update(
                TableId(name, ANY_OTHER_TABLE)
                for name in placed.entry.real_dbs
                if not name.startswith("/")
            )
    return tables, left_out


def _possible(named: Iterable[TableId], read: Iterable[TableId]) -> Iterator[TableId]:
    """Yield the named tables that may exist. `read`: the tables that relays have read."""
    known = frozenset(read)
    databases = {each.database for each in known}
    elsewhere = {each.table for each in known}
    for each in named:
        if each in known or each.database not in databases or each.table not in elsewhere:
            yield each
