"""Whether what is saved of an instance fits together: pure judgement, shared by the relay and its
preflight.
"""

from relay.errors import MappingLost, MappingMissing, PositionLost
from relay.model.names.mapping_name import MappingName, same_store
from relay.model.records.position_record import PositionRecord
from relay.route import MappingSet
from relay.settings import RoutingSettings
from relay.state import StartNote


def position_lost(
    instance: str, topic: str, noted: StartNote | None, record: PositionRecord | None
) -> PositionLost | None:
    """Say whether the instance has a past, by its note, and no record of it: a fresh start would
    then be a guess.
    """
    if record is not None or noted is None:
        return None
    return PositionLost(
        f"Instance {instance} started at {noted.file}:{noted.offset}, and {topic} has no record."
    )


def mapping_lost(
    named: MappingName, in_force: MappingName, recorded: MappingName | None
) -> MappingLost | None:
    """Say whether rows were published under sets that ZooKeeper does not continue.

    The parameters are those of `same_store`.
    """
    if same_store(named, in_force, recorded):
        return None
    there = (
        f"ZooKeeper holds another mapping, set {in_force}."
        if in_force.number
        else "ZooKeeper holds no mapping."
    )
    return MappingLost(f"Rows were published under mapping set {named}; {there}")


def mapping_missing(
    named: MappingName, mapping: MappingSet, routing: RoutingSettings
) -> MappingMissing | None:
    """Say whether an instance that published under no set yet would find no database mapped, and
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
