"""Instances that a mapping lets feed one topic, and that would place its rows in different
partitions.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations

from api.services.mappings.routing_views import Change
from relay.errors import UnmappedName
from relay.model.records.topic_placing import TopicAgreement
from relay.model.table import TableId, tables_named
from relay.route import Destination, MappingSet, Router, TableFilter
from relay.settings import InstanceSettings


class SharedTopics:
    """`tables_of` are the real tables that an instance has met, `agreement` tells how the instances
    of a topic place rows so far.
    """

    def __init__(
        self, tables_of: Callable[[str], Iterable[str]], agreement: Callable[[str], TopicAgreement]
    ) -> None:
        self._tables_of = tables_of
        self._agreement = agreement

    def contradictions(
        self, instances: Iterable[InstanceSettings], mapping: MappingSet
    ) -> list[Change]:
        """Say which instances would feed one topic under this mapping and place rows differently.

        The later one would wait.
        """
        fed = [(instance, self._topics(instance, mapping)) for instance in instances]
        return [
            each
            for (one, topics), (other, others) in combinations(fed, 2)
            for topic in sorted(topics & others)
            for each in self._of_topic(topic, one, other)
        ]

    def _of_topic(
        self, topic: str, one: InstanceSettings, other: InstanceSettings
    ) -> Iterator[Change]:
        counts = [self._partitions(topic, each) for each in (one, other)]
        if one.placing_rules != other.placing_rules:
            why = "by other rules (partition_hash, database_hash, names)"
        elif None not in counts and counts[0] != counts[1]:
            why = f"by {counts[0]} and {counts[1]} partitions"
        else:
            return
        sentence = (
            f"{one.name} and {other.name} both feed topic {topic} and place rows {why}: the later "
            f"one waits (PARTITIONS_DIFFER)."
        )
        yield Change((one.name, other.name), sentence, ())

    def _partitions(self, topic: str, instance: InstanceSettings) -> int | None:
        """The count that an instance places rows of the topic by.

        None where only the topic itself tells.
        """
        feeder = self._agreement(topic).feeders.get(instance.name)
        return instance.partition.partitions_num or (
            None if feeder is None else feeder.placing.partitions
        )

    def _topics(self, instance: InstanceSettings, mapping: MappingSet) -> set[str]:
        router, accepts = Router(mapping, instance.routing), TableFilter(instance.filter).accepts
        met = tables_named(self._tables_of(instance.name))
        return {topic for table in met if accepts(table) for topic in _topics_of(router, table)}


def _topics_of(router: Router, table: TableId) -> tuple[str, ...]:
    try:
        route = router.route(table)
    except UnmappedName:
        return ()
    return route.topics if isinstance(route, Destination) else ()
