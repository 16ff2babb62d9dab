"""Finds instances that would publish to one topic under a mapping, although they assign its rows to
partitions by different rules or use different formats.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from typing import TypeAlias

from api.services.mappings.routers import Routers
from api.services.mappings.routing_views import RouteEffect
from relay.model.names.own_topics import is_own_topic
from relay.model.records.topic_partitioning import TopicAgreement
from relay.model.table import TableId
from relay.route import MappingSet
from relay.settings import InstanceSettings

_Partitions: TypeAlias = int | None
"""The partition count by which an instance assigns rows of a topic; None if it is that of the
topic.
"""


class SharedTopics:
    """Finds instances that must not feed one topic together.

    met           instance → the real tables that it has read
    agreement     returns for a topic how the instances that feed it partition its rows now
    routers       routers to reuse; None: new ones are made
    installation  name of the installation, from which the names of the relay's own topics follow;
                  "": instances are not checked for rows in these topics
    """

    def __init__(
        self,
        met: Mapping[str, Iterable[TableId]],
        agreement: Callable[[str], TopicAgreement],
        routers: Routers | None = None,
        installation: str = "",
    ) -> None:
        self._met = met
        self._agreement = agreement
        self._routers = routers or Routers()
        self._installation = installation

    def contradictions(
        self, instances: Iterable[InstanceSettings], mapping: MappingSet
    ) -> list[RouteEffect]:
        """Return a warning for each pair of instances that must not feed the same topic.

        Under this mapping both instances of the pair would feed it, but they partition rows by
        different rules or use different formats: the instance that starts later would wait. The
        result also contains a warning for each instance whose settings choose another format than
        its messages in the topic have, and for each instance that would send rows to a topic of
        transaction reports, heartbeats or the relay's own records.
        """
        instances = list(instances)
        reports = {topic: each.name for each in instances for topic in each.report_topics}
        feeding: dict[str, list[InstanceSettings]] = {}
        for each in instances:
            for topic in self._topics(each, mapping):
                feeding.setdefault(topic, []).append(each)
        return [
            change
            for topic in sorted(feeding)
            for change in (
                *self._of_topic(topic, feeding[topic]),
                *self._of_formats(topic, feeding[topic]),
                *_reports_mixed(topic, feeding[topic], reports),
                *self._own_mixed(topic, feeding[topic]),
            )
        ]

    def _of_formats(self, topic: str, instances: list[InstanceSettings]) -> Iterator[RouteEffect]:
        """Compare each instance with the first one, and with the current state of the topic."""
        first = instances[0]
        for other in instances[1:]:
            if other.format_of(topic) != first.format_of(topic):
                sentence = (
                    f"{first.name} and {other.name} both feed topic {topic}, as "
                    f"{first.format_of(topic)} and {other.format_of(topic)}: the later one waits "
                    "(FORMATS_DIFFER). Map their tables to different topics, or set one format."
                )
                yield RouteEffect((first.name, other.name), sentence, ())
        # A read for each topic of a large installation takes minutes: without a second format none.
        if all(each.formats == ("canal-json",) for each in instances):
            return
        feeders = self._agreement(topic).feeders
        for each in instances:
            feeder = feeders.get(each.name)
            before = "" if feeder is None or not feeder.joined else feeder.format
            if before not in ("", each.format_of(topic)):
                sentence = (
                    f"Topic {topic} has messages of {each.name} as {before}, and its settings "
                    f"choose {each.format_of(topic)}: the instance stops (FORMAT_CHANGED). Map "
                    "its tables to a topic of another name, or set the format back."
                )
                yield RouteEffect((each.name,), sentence, ())

    def _of_topic(self, topic: str, instances: list[InstanceSettings]) -> Iterator[RouteEffect]:
        """Compare pairs only if two instances differ at all: one topic may have hundreds."""
        feeders = self._agreement(topic).feeders if len(instances) > 1 else {}
        counts: list[_Partitions] = []
        for each in instances:
            feeder = feeders.get(each.name)
            placed = None if feeder is None else feeder.partitioning.partitions
            counts.append(each.partitions_of(topic) or placed)
        alike = all(
            each.partitioning_rules == instances[0].partitioning_rules for each in instances
        )
        if alike and len({*counts} - {None}) < 2:
            return
        for (one, count), (other, count_of_other) in combinations(
            zip(instances, counts, strict=True), 2
        ):
            why = _difference(one, other, count, count_of_other)
            if why:
                sentence = (
                    f"{one.name} and {other.name} both feed topic {topic} and place rows {why}: "
                    f"the later one waits (PARTITIONS_DIFFER)."
                )
                yield RouteEffect((one.name, other.name), sentence, ())

    def _own_mixed(self, topic: str, feeding: Iterable[InstanceSettings]) -> Iterator[RouteEffect]:
        if self._installation and is_own_topic(topic, self._installation):
            names = tuple(each.name for each in feeding)
            sentence = (
                f"{', '.join(names)} would send rows to {topic}, which has the installation's own "
                "records: it stops (TOPIC_REFUSED). Map the rows to another topic."
            )
            yield RouteEffect(names, sentence, ())

    def _topics(self, instance: InstanceSettings, mapping: MappingSet) -> set[str]:
        router = self._routers.router(mapping, instance)
        accepts = self._routers.filter(instance).accepts
        return {
            topic
            for table in self._met[instance.name]
            if accepts(table) and (goes := router.destination(table)) is not None
            for topic in goes.topics
        }


def _reports_mixed(
    topic: str, feeding: Iterable[InstanceSettings], reports: Mapping[str, str]
) -> Iterator[RouteEffect]:
    for each in feeding:
        whose = each.name if topic in each.report_topics else reports.get(topic)
        if whose is not None:
            stops = ": it stops (TOPIC_REFUSED)" if whose == each.name else ""
            sentence = (
                f"{each.name} would send rows to {topic}, the topic of transactions or heartbeats "
                f"of {whose}{stops}. Give that topic a name that no mapping gives."
            )
            yield RouteEffect((each.name,), sentence, ())


def _difference(
    one: InstanceSettings, other: InstanceSettings, count: _Partitions, count_of_other: _Partitions
) -> str:
    if one.partitioning_rules != other.partitioning_rules:
        return "by other rules (partition_hash, database_hash, names)"
    if None not in (count, count_of_other) and count != count_of_other:
        return f"by {count} and {count_of_other} partitions"
    return ""
