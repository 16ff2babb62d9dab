"""Asks a cluster about itself: the cheapest request there is, and the one by which silence shows."""

from typing import Final

from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, ClusterMetadata

from relay.errors import BrokerUnreachable
from relay.kafka.errors import error_of, relay_error
from relay.settings import KafkaSettings

_SILENT: Final = frozenset({"_TIMED_OUT", "_TRANSPORT", "_ALL_BROKERS_DOWN", "_RESOLVE"})
# A broker that speaks TLS or refuses a login looks silent to the client.
_REMEDY: Final = (
    "Check kafka.bootstrap_servers, the brokers, and kafka.client (security.protocol, login); the relay goes on by itself when they answer."
)


def cluster_metadata(
    client: AdminClient | Producer, settings: KafkaSettings, timeout_s: float, topic: str | None = None
) -> ClusterMetadata:
    """Brokers and topics, or one topic alone. Raises BrokerUnreachable when nobody answers in time."""
    doing = "Asking for the brokers" if topic is None else f"Asking for topic {topic}"
    try:
        return client.list_topics(timeout=timeout_s) if topic is None else client.list_topics(topic, timeout=timeout_s)
    except KafkaException as exc:
        if error_of(exc).name() in _SILENT:
            raise BrokerUnreachable(f"No Kafka broker answers at {settings.bootstrap_servers}.", remedy=_REMEDY) from exc
        raise relay_error(error_of(exc), doing) from exc
