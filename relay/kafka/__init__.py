"""The door to Kafka that publish and position share: configuration, errors, topics."""

from relay.kafka.client import ClientConfiguration, client_configuration
from relay.kafka.errors import error_of, kafka_errors, relay_error
from relay.kafka.topics import TopicAdmin, TopicSpec, TopicState

__all__ = [
    "ClientConfiguration",
    "TopicAdmin",
    "TopicSpec",
    "TopicState",
    "client_configuration",
    "error_of",
    "kafka_errors",
    "relay_error",
]
