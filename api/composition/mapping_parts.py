"""Constructs the parts of the admin that read, check and change the mapping."""

from dataclasses import dataclass

from api.composition.shared import Shared
from api.services.mappings.effects.edit_effects import EditEffects
from api.services.mappings.hidden_tables import HiddenTables
from api.services.mappings.logical_view import LogicalViews
from api.services.mappings.mapping_archive import MappingArchive
from api.services.mappings.mapping_editor import MappingEditor
from api.services.mappings.route_finder import RouteFinder
from api.services.mappings.routing_views import routing_views
from api.services.mappings.table_route import TableRoute
from api.services.mappings.unmapped import UnmappedTables
from api.services.watch import Watch
from relay.operations import EarlyReturns
from relay.state import HiddenTableStore


@dataclass(frozen=True, slots=True)
class MappingParts:
    """The services for mapping sets, routes, and tables without a route.

    archive   the sets that were saved
    editor    checks and saves an edit
    logical   the logical names, grouped
    route     the route of one table of a database
    finder    the routes that lead to a topic or a logical name
    unmapped  the tables without a logical name
    hidden    the unmapped tables that operators hid from lists
    """

    archive: MappingArchive
    editor: MappingEditor
    logical: LogicalViews
    route: TableRoute
    finder: RouteFinder
    unmapped: UnmappedTables
    hidden: HiddenTables

    @classmethod
    def of(cls, shared: Shared, watch: Watch) -> "MappingParts":
        """Construct the parts; nothing is read yet.

        `watch` has the rows per second of each instance. Raises ConfigurationError if the filter of
        an instance in the configuration file is invalid.
        """
        for view in routing_views(shared.settings.instances):
            view.table_filter()
        store, instances, defined = shared.mappings, shared.instances, shared.defined
        archive = MappingArchive(store)
        logical = LogicalViews(archive, instances, defined, watch.rates)
        route = TableRoute(archive, defined)
        effects = EditEffects(instances, watch.rates, shared.settings.installation)
        hidden = HiddenTableStore(shared.session, shared.paths)
        return cls(
            archive=archive,
            editor=MappingEditor(
                store, defined, effects, shared.acts, EarlyReturns(store, instances)
            ),
            logical=logical,
            route=route,
            finder=RouteFinder(archive, route, logical, instances, defined),
            unmapped=UnmappedTables(archive, instances, defined),
            hidden=HiddenTables(hidden, shared.acts),
        )
