"""Creates topics with the required settings, and refuses topics with other settings."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Final

import structlog
from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AclOperation, AdminClient, ConfigResource, NewTopic, ResourceType

from relay.errors import BrokerUnreachable, TopicRefused
from relay.kafka.client import client_configuration, kafka_client
from relay.kafka.erasing import delete_records
from relay.kafka.errors import error_of, kafka_errors, relay_error
from relay.kafka.metadata import cluster_metadata
from relay.kafka.rights import Right
from relay.kafka.topic_form import TopicSpec, TopicState
from relay.kafka.topic_rules import TopicFinding
from relay.settings import KafkaSettings

_REQUEST_SECONDS: Final = 10.0

_log = structlog.stdlib.get_logger(__name__)


class TopicAdmin:
    """Queries the cluster about topics and creates them. Each thread needs its own instance."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._admin = kafka_client(AdminClient, client_configuration(settings))

    def state(self, name: str) -> TopicState | None:
        """Return the topic's state, None if it does not exist.

        Raises BrokerUnreachable, KafkaNotPermitted.
        """
        found = cluster_metadata(self._admin, self._settings, _REQUEST_SECONDS, name).topics[name]
        if found.error is not None:
            if found.error.name() in ("UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC"):
                return None
            raise relay_error(
                found.error, f"Asking for topic {name}", Right("Describe", "topic", name)
            )
        replicas = min(
            (len(partition.replicas) for partition in found.partitions.values()), default=0
        )
        right = Right("DescribeConfigs", "topic", name)
        try:
            settings = self._settings_of(ResourceType.TOPIC, name, right)
            permitted = self.permitted(name)
        except TopicRefused as exc:
            # Each request may go to another broker, and a broker that is starting reports no topics
            # at first.
            raise BrokerUnreachable(
                f"One broker has topic {name}, and another one answers: {exc.reason}"
            ) from exc
        return TopicState(name, len(found.partitions), replicas, settings, permitted)

    def permitted(self, name: str) -> frozenset[str] | None:
        """Return the operations that the principal may perform on a topic.

        None if the brokers do not return them.
        """
        with kafka_errors(
            f"Asking for the rights on topic {name}", Right("Describe", "topic", name)
        ):
            asked = self._admin.describe_topics(
                TopicCollection([name]),
                include_authorized_operations=True,
                request_timeout=_REQUEST_SECONDS,
            )
            operations = asked[name].result().authorized_operations
        return None if operations is None else frozenset(_operation(each) for each in operations)

    def create(self, spec: TopicSpec, *, only_ask: bool = False) -> bool:
        """Create the topic and wait until every partition has a leader. Return False if it exists.

        With `only_ask` the brokers validate the request and create nothing. Raises TopicRefused,
        KafkaNotPermitted, BrokerUnreachable.
        """
        new = NewTopic(
            spec.name, spec.partitions, spec.replication_factor, config=dict(spec.settings)
        )
        try:
            asked = self._admin.create_topics(
                [new], operation_timeout=_REQUEST_SECONDS, validate_only=only_ask
            )
            asked[spec.name].result(timeout=2 * _REQUEST_SECONDS)
        except KafkaException as exc:
            if error_of(exc).code() == KafkaError.TOPIC_ALREADY_EXISTS:
                return False
            raise relay_error(
                error_of(exc), f"Creating topic {spec.name}", Right("Create", "topic", spec.name)
            ) from exc
        except TimeoutError as exc:
            raise BrokerUnreachable(
                f"Creating topic {spec.name} took longer than {2 * _REQUEST_SECONDS:.0f} s."
            ) from exc
        if not only_ask:
            _log.info(
                "topic_created",
                topic=spec.name,
                partitions=spec.partitions,
                settings=dict(spec.settings),
            )
        return True

    def ensure(
        self, spec: TopicSpec, findings: Callable[[TopicState], Iterable[TopicFinding]]
    ) -> bool:
        """Create the topic if it is missing; return whether it was created.

        If it exists with other settings, raises the first finding that is not a warning.
        """
        state = self.state(spec.name)
        if state is None and self.create(spec):
            return True
        state = state or self.state(spec.name)  # another process has created it meanwhile
        if state is None:
            raise BrokerUnreachable(f"One broker has topic {spec.name}, and another one has not.")
        accept(findings(state))
        return False

    def broker_settings(self) -> Mapping[str, str]:
        """Return the settings of one broker, which are assumed for the whole cluster.

        Raises KafkaNotPermitted, BrokerUnreachable.
        """
        brokers = cluster_metadata(self._admin, self._settings, _REQUEST_SECONDS).brokers
        if not brokers:
            raise BrokerUnreachable("Kafka returned a cluster without brokers.")
        return self._settings_of(
            ResourceType.BROKER, str(min(brokers)), Right("DescribeConfigs", "cluster")
        )

    def delete_records(self, name: str, offsets: Mapping[int, int]) -> None:
        """Delete all records of a topic before the given offset of each partition.

        Raises KafkaNotPermitted, and TopicRefused for a topic whose cleanup policy is only
        `compact`.
        """
        delete_records(self._admin, name, offsets)

    def partition_counts(self) -> Mapping[str, int]:
        """Return the number of partitions of every topic of the cluster."""
        topics = cluster_metadata(self._admin, self._settings, _REQUEST_SECONDS).topics
        return {name: len(topic.partitions) for name, topic in topics.items()}

    def broker_count(self) -> int:
        """Return the number of brokers of the cluster. Raises BrokerUnreachable."""
        return len(cluster_metadata(self._admin, self._settings, _REQUEST_SECONDS).brokers)

    def _settings_of(self, kind: ResourceType, name: str, right: Right) -> Mapping[str, str]:
        resource = ConfigResource(kind, name)
        with kafka_errors(f"Asking for the settings of {name}", right):
            answer = self._admin.describe_configs([resource], request_timeout=_REQUEST_SECONDS)[
                resource
            ].result()
        return {key: entry.value or "" for key, entry in answer.items()}


def accept(findings: Iterable[TopicFinding]) -> None:
    """Raise the first finding that is not a warning. Log each warning once per process."""
    for finding in findings:
        if not finding.warning:
            raise finding.error
        _warn_once(finding.error.reason, finding.error.way_out)


def _operation(operation: AclOperation) -> str:
    """Convert DESCRIBE_CONFIGS to DescribeConfigs, the spelling of kafka-acls.sh and the
    documentation.
    """
    return operation.name.title().replace("_", "")


@cache
def _warn_once(reason: str, remedy: str) -> None:
    _log.warning("topic_warning", reason=reason, remedy=remedy)
