"""Numbers of mapping sets in position records, for a ZooKeeper that may have lost its sets."""

from relay.kafka import TopicAdmin
from relay.position import KafkaPositionStore
from relay.settings import RelaySettings


def highest_recorded_set(settings: RelaySettings) -> int:
    """Return the highest number of a mapping set that a position record names; 0 for none.

    Numbers must rise also after a loss of ZooKeeper: markers and subscriptions compare them (ADR
    89). Raises BrokerUnreachable, KafkaNotPermitted, PositionUnreadable, PositionNewer.
    """
    prefix = f"{settings.installation}.position."
    topics = TopicAdmin(settings.kafka).partition_counts()
    names = [each.removeprefix(prefix) for each in topics if each.startswith(prefix)]
    stores = (KafkaPositionStore(settings.kafka, settings.installation, each) for each in names)
    records = (store.read() for store in stores)
    return max((each.mapping_set for each in records if each is not None), default=0)
