"""Finds out whether an installation was ever used. If not, the admin may print a link that creates
the first administrator.
"""

from relay.position import position_topics
from relay.settings import RelaySettings
from relay.state import AccountStore, MappingStore, Paths
from relay.zk import Session


def has_users(settings: RelaySettings, session: Session) -> bool:
    """Return whether the installation has users. Raises StoreUnreachable, StoreRefused."""
    paths = Paths.of(settings.zookeeper, settings.installation)
    return bool(AccountStore(session, paths).read().users)


def traces_of_work(settings: RelaySettings, session: Session) -> str:
    """Return a sentence about why the installation seems to have been used before; "" if nothing
    indicates that.

    If Kafka has position topics, ZooKeeper is not new but was wiped. Raises StoreUnreachable,
    StoreRefused, BrokerUnreachable, KafkaNotPermitted.
    """
    paths = Paths.of(settings.zookeeper, settings.installation)
    if MappingStore(session, paths).set_numbers():
        return "ZooKeeper has mapping sets of this installation."
    found = sorted(position_topics(settings.kafka, settings.installation).values())
    return f"Kafka has the topic {found[0]} of this installation." if found else ""
