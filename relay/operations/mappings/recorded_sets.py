"""Numbers of mapping sets in position records, for a ZooKeeper that may have lost its sets."""

from concurrent.futures import ThreadPoolExecutor
from typing import Final

from relay.position import KafkaPositionStore, position_topics
from relay.settings import RelaySettings

_AT_A_TIME: Final = 8
"""Position topics that are read at a time: one takes some tenths of a second."""


def highest_recorded_set(settings: RelaySettings) -> int:
    """Return the highest number of a mapping set that rows were published under; 0 for none.

    Numbers must rise also after ZooKeeper was lost or put back to an older state: markers and
    subscriptions compare them (ADR 89). Raises BrokerUnreachable, KafkaNotPermitted,
    PositionUnreadable, PositionNewer.
    """
    kafka, installation = settings.kafka, settings.installation

    def number(instance: str) -> int:
        record = KafkaPositionStore(kafka, installation, instance).read()
        return 0 if record is None else record.highest_number

    with ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="recorded-sets") as pool:
        return max(pool.map(number, position_topics(kafka, installation)), default=0)
