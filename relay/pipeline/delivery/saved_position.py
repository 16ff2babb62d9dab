"""What the saved data of an instance says, and whether it is consistent.

Pure; shared by the relay and its preflight.
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
    """How published rows were partitioned, by topic.

    `partitions` are the partition counts, `rules` the digests of the partition rules; a topic of a
    record before format 5 has no digest. `forms` are those of the hashed keys, from format 8 on.
    `formats` are those of the messages; versions that did not write them had canal-json alone.
    """

    partitions: Mapping[str, int]
    rules: Mapping[str, str]
    forms: HashedForms
    formats: Mapping[str, str]

    @classmethod
    def of(cls, record: PositionRecord | None) -> "PublishedPartitioning":
        """Return what a position record says; empty without one."""
        if record is None:
            return cls({}, {}, {}, {})
        formats = dict.fromkeys(record.partitions, _FORMER_FORMAT) | record.formats
        return cls(record.partitions, record.placed_by, record.hashed_forms, formats)


def position_lost(
    instance: str, topic: str, noted: StartNote | None, record: PositionRecord | None
) -> PositionLost | None:
    """Return an error if the instance's note shows a past, but its record is missing.

    A fresh start would then be a guess.
    """
    if record is not None or noted is None:
        return None
    return PositionLost(
        f"Instance {instance} started at {noted.file}:{noted.offset}, and {topic} has no record."
    )


def mapping_lost(
    named: MappingName, in_force: MappingName, recorded: MappingName | None
) -> MappingLost | None:
    """Return whether rows were published under sets that ZooKeeper does not continue.

    The parameters are those of `same_store`.
    """
    if same_store(named, in_force, recorded):
        return None
    there = (
        f"ZooKeeper has another mapping, set {in_force}."
        if in_force.number
        else "ZooKeeper has no mapping."
    )
    return MappingLost(f"Rows were published under mapping set {named}; {there}")


def mapping_missing(
    named: MappingName, mapping: MappingSet, routing: RoutingSettings
) -> MappingMissing | None:
    """Return whether an instance that published under no set yet would find no database mapped, and
    has no default topic.
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
    """Return an error if an instance has published to a topic in another format; None: unknown."""
    if before in (None, message_format):
        return None
    return FormatChanged(
        f"Topic {topic} has messages of this instance as {before}, and the settings choose "
        f"{message_format}: readers fail on one of the two formats."
    )


def noted_partitioning_changed(
    topic: str, noted: TopicPartitioning, instance: InstanceSettings
) -> PartitionsChanged | None:
    """Return an error if the settings assign rows differently from the agreement of the topic,
    where the position record does not name the topic: the record may be lost.
    """
    changed = partitioning_changed(topic, noted.partitions, noted.rules.digest, instance)
    if changed is None:
        return None
    return PartitionsChanged(
        f"{changed.reason} The former settings are known from ZooKeeper, because the "
        "position record does not name the topic.",
        remedy=(
            "Set the partition settings back and start again, or give the tables a topic of "
            "another name. If the topic has no row of the instance: stop its relays and run "
            "`roma instance retire INSTANCE`."
        ),
    )


def partitioning_changed(
    topic: str, partitions: int, rules: str | None, instance: InstanceSettings
) -> PartitionsChanged | None:
    """Return an error if the settings assign rows of a topic differently from `partitions` and
    rules of this digest (None: not recorded).
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
