"""Finds tables that an edit moves to a topic which has another form of their message keys.

Equal keys of two forms would be assigned to different partitions. The form of the keys of each
table and topic is recorded in ZooKeeper when its rows are published.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from api.services.mappings.routers import Routers
from api.services.mappings.routing_views import RouteEffect
from relay.model.names.first_names import first_names
from relay.model.table import TableId
from relay.route import Destination, MappingSet
from relay.settings import InstanceSettings
from relay.state import FormStore, HashedKey, KeyAgreements, PlannedForms, keys_repartitioned

_LISTED = 3
"""A sentence names this many tables and counts the rest."""


class _TableInTopic(NamedTuple):
    """A logical table in a topic; `shard` is the real table, if keys name it."""

    topic: str
    logical: TableId
    shard: TableId | None

    def key(self, form: str) -> HashedKey:
        return HashedKey(self.topic, self.logical, form, self.shard)


class _Arrivals(NamedTuple):
    """The real tables that come to a place by rules of one digest, by their former place; and the
    instances that bring them.
    """

    tables: dict[_TableInTopic, set[TableId]]
    instances: set[str]


class MeetingKeys:
    """Compares the message keys of tables that would share a topic.

    met    instance → the real tables that it has read
    store  reads the forms of their keys
    """

    def __init__(
        self, met: Mapping[str, Iterable[TableId]], store: FormStore, routers: Routers | None = None
    ) -> None:
        self._met = met
        self._forms = PlannedForms(store)
        self._routers = routers or Routers()
        self._has_shards: dict[tuple[str, TableId, str], bool] = {}

    def changes(
        self, instances: Iterable[InstanceSettings], before: MappingSet, after: MappingSet
    ) -> list[RouteEffect]:
        """Return a warning for each logical table whose keys would have different forms in one
        topic.

        instances  the present instances
        before     the mapping set without the edit
        after      the mapping set with the edit

        A table that was never published has no recorded form, and gets no warning. Raises
        StoreUnreachable.
        """
        found: dict[tuple[_TableInTopic, str], _Arrivals] = {}
        for instance in instances:
            self._collect(instance, before, after, found)
        return [
            change
            for (place, rules), arrivals in sorted(found.items(), key=lambda each: str(each[0]))
            for change in self._of_place(place, rules, arrivals)
        ]

    def _collect(
        self,
        instance: InstanceSettings,
        before: MappingSet,
        after: MappingSet,
        found: dict[tuple[_TableInTopic, str], _Arrivals],
    ) -> None:
        accepts = self._routers.filter(instance).accepts
        old, new = (self._routers.router(each, instance) for each in (before, after))
        rules = instance.partitioning_rules.digest
        for real in filter(accepts, self._met[instance.name]):
            came, goes = old.destination(real), new.destination(real)
            if came is None or goes is None or came == goes:
                continue
            shard = real if instance.routing.key_scope == "shard" else None
            former = _places(came, shard)
            for place in _places(goes, shard) - former:
                arrivals = found.setdefault((place, rules), _Arrivals({}, set()))
                arrivals.instances.add(instance.name)
                for each in former:
                    arrivals.tables.setdefault(each, set()).add(real)

    def _of_place(
        self, place: _TableInTopic, rules: str, arrivals: _Arrivals
    ) -> Iterator[RouteEffect]:
        agreements = KeyAgreements(self._forms, rules)
        if place.shard is not None and not self._has_forms(place, rules, agreements):
            return
        for former, tables in sorted(arrivals.tables.items(), key=lambda each: str(each[0])):
            for form in agreements.forms(former.key("")):
                key = place.key(form)
                others = agreements.differing_forms(key, ())
                if others:
                    error = keys_repartitioned(key, others)
                    named = first_names(sorted(tables), _LISTED)
                    sentence = (
                        f"The first row of {named} in topic {place.topic} may "
                        f"stop its instance ({error.code}). {error.reason} {error.way_out}"
                    )
                    names = tuple(sorted(arrivals.instances))
                    yield RouteEffect(names, sentence, tuple(sorted(map(str, tables))))

    def _has_forms(self, place: _TableInTopic, rules: str, agreements: KeyAgreements) -> bool:
        """Return whether any real table of the logical one is known; one answer for thousands."""
        at = place.topic, place.logical, rules
        if at not in self._has_shards:
            self._has_shards[at] = agreements.has_forms(place.key(""))
        return self._has_shards[at]


def _places(destination: Destination, shard: TableId | None) -> set[_TableInTopic]:
    return {_TableInTopic(topic, destination.logical, shard) for topic in destination.topics}
