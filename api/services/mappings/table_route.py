"""Finds the route of a real table under the active set and an instance's settings."""

from collections.abc import Callable, Sequence

from api.errors import InstanceRefused
from api.models.mappings.route import FieldTagView, RouteView
from api.services.mappings.mapping_archive import MappingArchive
from api.services.mappings.route_steps import key_of, partition_step
from api.services.mappings.routing_views import RoutingView, routing_views, view_of
from relay.errors import UnmappedName
from relay.model.table import TableId
from relay.operations import DefinedInstances
from relay.route import Destination, MappingSet, where
from relay.settings import InstanceSettings


class TableRoute:
    """Finds the topic of a real table. `defined` returns the present instances."""

    def __init__(self, archive: MappingArchive, defined: Callable[[], DefinedInstances]) -> None:
        self._archive = archive
        self._defined = defined

    def of(self, real: TableId, instance: str | None) -> RouteView:
        """Return the route of a real table for an instance, or for all if `instance` is None.

        Raises NoSuchThing for an unknown instance, BadRequest if instances differ and none is
        named, ActiveSetBroken, and InstanceRefused for an instance with unusable settings.
        """
        defined = self._defined()
        unusable = None if instance is None else defined.unusable.get(instance)
        if unusable is not None:
            raise InstanceRefused(f"The settings of instance {instance} cannot be used: {unusable}")
        view = view_of(routing_views(defined.settings), instance)
        named = (instance,) if instance is not None else view.instances
        settings = [each for each in defined.settings if each.name in named]
        return _fate(view, self._archive.compiled(), real, instance, settings)


def _fate(
    view: RoutingView,
    mapping: MappingSet,
    real: TableId,
    instance: str | None,
    settings: Sequence[InstanceSettings],
) -> RouteView:
    passes = view.table_filter()
    asked = RouteView(
        database=real.database,
        table=real.table,
        instance=instance,
        mapping_set=mapping.number,
        outcome="dropped",
        sentence="",
        filter_step=passes.step(real),
    )
    if not passes.accepts(real):
        return asked.model_copy(
            update={
                "sentence": f"{real} is left out: the instance's filter does not let it pass.",
                "filtered": True,
            }
        )
    router = view.router(mapping)
    asked = asked.model_copy(update={"sentence": where(router, real)})
    try:
        route = router.route(real)
    except UnmappedName:
        return asked.model_copy(update={"outcome": "stop"})
    if not isinstance(route, Destination):
        return asked
    return asked.model_copy(
        update={"outcome": "published", **_fields_of(route), **_steps(settings, real, route)}
    )


def _steps(
    instances: Sequence[InstanceSettings], real: TableId, route: Destination
) -> dict[str, object]:
    """Return partition rule and key, if all instances have the same ones."""
    found = [
        {
            "partition": partition_step(each, route.logical),
            "key": key_of(each, real, route.logical),
        }
        for each in instances
    ]
    return dict(found[0]) if found and all(each == found[0] for each in found) else {}


def _fields_of(route: Destination) -> dict[str, object]:
    return {
        "logical_database": route.logical.database,
        "logical_table": route.logical.table,
        "topics": list(route.topics),
        "tags": list(route.tags.table),
        "field_tags": [FieldTagView(field=field, tag=tag) for field, tag in route.tags.fields],
    }
