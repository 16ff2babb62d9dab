"""Topics: made as promised, and refused when they stand otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from relay.errors import BrokerUnreachable
from relay.kafka.client import client_configuration
from relay.kafka.errors import error_of, kafka_errors, relay_error
from relay.settings import KafkaSettings

_REQUEST_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """A topic as the relay makes it; `settings` are Kafka's topic settings."""

    name: str
    partitions: int
    replication_factor: int
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopicState:
    """A topic as it stands in the cluster."""

    name: str
    partitions: int
    replication_factor: int
    settings: Mapping[str, str]


class TopicAdmin:
    """Asks the cluster about topics and makes them; one instance per thread."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._admin = AdminClient(client_configuration(settings))

    def state(self, name: str) -> TopicState | None:
        """The topic as it stands, or None. Raises BrokerUnreachable."""
        with kafka_errors(f"Asking for topic {name}"):
            found = self._admin.list_topics(name, timeout=_REQUEST_SECONDS).topics[name]
        if found.error is not None:
            if found.error.name() in ("UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC"):
                return None
            raise relay_error(found.error, f"Asking for topic {name}")
        replicas = min((len(partition.replicas) for partition in found.partitions.values()), default=0)
        return TopicState(name, len(found.partitions), replicas, self._settings_of(ResourceType.TOPIC, name))

    def create(self, spec: TopicSpec) -> bool:
        """Make the topic and wait until every partition has a leader; False when it stands already."""
        new = NewTopic(spec.name, spec.partitions, spec.replication_factor, config=dict(spec.settings))
        try:
            self._admin.create_topics([new], operation_timeout=_REQUEST_SECONDS)[spec.name].result(timeout=2 * _REQUEST_SECONDS)
        except KafkaException as exc:
            if error_of(exc).code() == KafkaError.TOPIC_ALREADY_EXISTS:
                return False
            raise relay_error(error_of(exc), f"Creating topic {spec.name}") from exc
        except TimeoutError as exc:
            raise BrokerUnreachable(f"Creating topic {spec.name} took longer than {2 * _REQUEST_SECONDS:.0f} s.") from exc
        return True

    def broker_settings(self) -> Mapping[str, str]:
        """The settings of one broker of the cluster, which stand for all."""
        with kafka_errors("Asking for the brokers"):
            brokers = self._admin.list_topics(timeout=_REQUEST_SECONDS).brokers
        return self._settings_of(ResourceType.BROKER, str(min(brokers)))

    def broker_count(self) -> int:
        with kafka_errors("Asking for the brokers"):
            return len(self._admin.list_topics(timeout=_REQUEST_SECONDS).brokers)

    def _settings_of(self, kind: ResourceType, name: str) -> Mapping[str, str]:
        resource = ConfigResource(kind, name)
        with kafka_errors(f"Asking for the settings of {name}"):
            answer = self._admin.describe_configs([resource], request_timeout=_REQUEST_SECONDS)[resource].result()
        return {key: entry.value or "" for key, entry in answer.items()}
