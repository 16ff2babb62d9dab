"""Numbers of mapping sets in position records, for a ZooKeeper that may have lost its sets."""

from relay.position import KafkaPositionStore, position_topics
from relay.settings import RelaySettings


def highest_recorded_set(settings: RelaySettings) -> int:
    """Return the highest number of a mapping set that a position record names; 0 for none.

    Numbers must rise also after a loss of ZooKeeper: markers and subscriptions compare them (ADR
    89). Raises BrokerUnreachable, KafkaNotPermitted, PositionUnreadable, PositionNewer.
    """
    kafka, installation = settings.kafka, settings.installation
    names = position_topics(kafka, installation)
    records = (KafkaPositionStore(kafka, installation, each).read() for each in names)
    return max((each.mapping_set for each in records if each is not None), default=0)
