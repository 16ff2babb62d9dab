"""Checks whether the saved data of an instance is consistent with its settings and with ZooKeeper.

The functions are pure; both the relay and `roma preflight` call them.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from relay.errors import (
    FormatChanged,
    MappingLost,
    MappingMissing,
    PartitionsChanged,
    PositionLost,
)
from relay.model.names.mapping_name import MappingName, same_store
from relay.model.records.hashed_forms import HashedForms
from relay.model.records.position_record import PositionRecord
from relay.model.records.topic_partitioning import TopicPartitioning
from relay.route import MappingSet
from relay.settings import InstanceSettings, RoutingSettings
from relay.state import StartNote

_FORMER_FORMAT: Final = "canal-json"


class PublishedPartitioning(NamedTuple):
    """How published rows were assigned to partitions, and in which format they are, by topic.

    partitions  topic → number of partitions
    rules       topic → digest of the partition rules; records before format 5 have none
    forms       topic → table → text forms in which keys were hashed; records before format 8 have
                none
    formats     topic → message format; in records without it, the format is canal-json
    """

    partitions: Mapping[str, int]
    rules: Mapping[str, str]
    forms: HashedForms
    formats: Mapping[str, str]

    @classmethod
    def of(cls, record: PositionRecord | None) -> "PublishedPartitioning":
        """Return the partitioning in a position record; all fields are empty without a record."""
        if record is None:
            return cls({}, {}, {}, {})
        formats = dict.fromkeys(record.partitions, _FORMER_FORMAT) | record.formats
        return cls(record.partitions, record.placed_by, record.hashed_forms, formats)


def position_lost(
    instance: str, topic: str, noted: StartNote | None, record: PositionRecord | None
) -> PositionLost | None:
    """Return an error if the instance published before, but its position record is missing;
    otherwise None. Without the record, no start position is safe.

    instance  name of the instance
    topic     the position topic
    noted     the start note in ZooKeeper, which shows that the instance published; None: none
              exists
    record    the position record; None: the topic has none
    """
    if record is not None or noted is None:
        return None
    return PositionLost(
        f"Instance {instance} started at {noted.file}:{noted.offset}, and its position topic "
        f"{topic} has no record any more."
    )


def mapping_lost(
    named: MappingName, active: MappingName, recorded: MappingName | None
) -> MappingLost | None:
    """Return an error if the mapping sets in ZooKeeper do not continue the set under which the
    instance published; otherwise None. The rule is `same_store`.

    named     the set that the position record names
    active    the newest set in ZooKeeper
    recorded  the set in ZooKeeper that has the number of `named`; None: there is no such set
    """
    if same_store(named, active, recorded):
        return None
    there = (
        f"ZooKeeper has another mapping, set {active}."
        if active.number
        else "ZooKeeper has no mapping."
    )
    return MappingLost(f"Rows were published under mapping set {named}; {there}")


def mapping_missing(
    named: MappingName, mapping: MappingSet, routing: RoutingSettings
) -> MappingMissing | None:
    """Return an error if an instance that has never published has no mapping for any database;
    otherwise None. The instance then waits for a mapping.

    named    the set that the position record names; number 0: the instance has never published
    mapping  the newest set in ZooKeeper
    routing  the instance's settings; with a default topic for unmapped databases there is no error
    """
    if named.number or not mapping.maps_nothing or routing.unmapped_db == "default_topic":
        return None
    why = (
        f"Mapping set {mapping.number} maps no database."
        if mapping.number
        else "There is no mapping set."
    )
    return MappingMissing(
        f"{why} No row was published under a mapping yet; the instance waits for one."
    )


def format_changed(topic: str, before: str | None, message_format: str) -> FormatChanged | None:
    """Return an error if the instance published to the topic in another format than
    `message_format`; None otherwise.

    `before` is the former format; None: unknown, which is no error.
    """
    if before in (None, message_format):
        return None
    return FormatChanged(
        f"This instance has published messages in the format {before} to topic {topic}, and "
        f"the settings now choose {message_format}. Readers would fail on one of the two "
        "formats."
    )


def noted_partitioning_changed(
    topic: str, noted: TopicPartitioning, instance: InstanceSettings
) -> PartitionsChanged | None:
    """Return an error if the settings assign rows of a topic to other partitions than ZooKeeper
    says; otherwise None.

    topic     name of the topic
    noted     how rows are assigned according to ZooKeeper
    instance  the settings

    Call it for topics that the position record does not name: if the record was lost, only
    ZooKeeper shows how their rows were assigned.
    """
    changed = partitioning_changed(topic, noted.partitions, noted.rules.digest, instance)
    if changed is None:
        return None
    return PartitionsChanged(
        f"{changed.reason} The former settings are known from ZooKeeper, because the "
        "position record does not name the topic.",
        remedy=(
            "Set the partition settings back and start again, or give the tables another topic "
            "in the mapping. If the topic has no rows of this instance: stop its relays and "
            "run `roma instance retire INSTANCE`."
        ),
    )


def partitioning_changed(
    topic: str, partitions: int, rules: str | None, instance: InstanceSettings
) -> PartitionsChanged | None:
    """Return an error if the settings assign rows of a topic to other partitions than before;
    otherwise None.

    topic       name of the topic
    partitions  number of partitions to which rows were assigned before
    rules       digest of the rules before; None: it was not recorded
    instance    the present settings
    """
    wanted = instance.partitions_of(topic)
    if wanted is not None and wanted != partitions:
        return PartitionsChanged(
            f"Rows of topic {topic} go to {partitions} partitions, and partitions_num is {wanted}."
        )
    if rules is not None and rules != instance.partitioning_rules.digest:
        return PartitionsChanged(
            f"Rows of topic {topic} were assigned to partitions by other values of "
            "partition_hash, database_hash or names."
        )
    return None
