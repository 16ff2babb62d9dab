"""Reads from the position records which mapping sets were used, because ZooKeeper may have lost its
sets.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Final

from relay.model.names.mapping_name import RecordedSets
from relay.model.records.position_record import PositionRecord
from relay.position import KafkaPositionStore, position_topics
from relay.settings import RelaySettings

_AT_A_TIME: Final = 8
"""Number of position topics that are read in parallel. Reading one takes some tenths of a
second.
"""


def highest_recorded_set(settings: RelaySettings) -> int:
    """Return the highest number of a mapping set under which rows were published; 0: none.

    Raises the errors of `recorded_sets`.
    """
    return recorded_sets(settings).highest


def recorded_sets(settings: RelaySettings) -> RecordedSets:
    """Return the mapping sets that the position records of all instances name.

    A new set needs a higher number than all of these, because markers and subscriptions compare the
    numbers (ADR 89). That is also true after ZooKeeper was wiped or restored. Raises
    BrokerUnreachable, KafkaNotPermitted, PositionUnreadable, PositionNewer.
    """
    kafka, installation = settings.kafka, settings.installation

    def record(instance: str) -> PositionRecord | None:
        return KafkaPositionStore(kafka, installation, instance).read()

    with ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="recorded-sets") as pool:
        read = pool.map(record, position_topics(kafka, installation))
        records = [each for each in read if each is not None]
    return RecordedSets(
        max((each.highest_number for each in records), default=0),
        frozenset(each.mapping for each in records if each.mapping_set),
    )
