"""The setting `segment.ms` of topics, which a rewrite changes for its duration."""

from collections.abc import Iterable, Mapping
from typing import Final

from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    ResourceType,
)

from relay.kafka.client import client_configuration, kafka_client
from relay.kafka.errors import kafka_errors
from relay.kafka.rights import Right
from relay.settings import KafkaSettings

SEGMENT_MS: Final = "segment.ms"
AT_ONCE: Final = "1"
"""Value of `segment.ms` (milliseconds) with which the next record begins a new segment."""
_REQUEST_SECONDS: Final = 20.0


class SegmentSetting:
    """Reads and writes `segment.ms` of topics."""

    def __init__(self, kafka: KafkaSettings) -> None:
        self._admin = kafka_client(AdminClient, client_configuration(kafka))

    def own(self, topic: str) -> str | None:
        """Return the value that is set for the topic itself; None: the broker's value applies.

        Raises TopicRefused for a missing topic, KafkaNotPermitted, BrokerUnreachable.
        """
        return self.owned((topic,))[topic]

    def owned(self, topics: Iterable[str]) -> dict[str, str | None]:
        """Return the topics' own values, read with one request."""
        resources = [ConfigResource(ResourceType.TOPIC, each) for each in topics]
        asked = self._admin.describe_configs(resources, request_timeout=_REQUEST_SECONDS)
        found: dict[str, str | None] = {}
        for each in resources:
            right = Right("DescribeConfigs", "topic", each.name)
            with kafka_errors(f"Asking for the settings of {each.name}", right):
                entries: Mapping[str, ConfigEntry] = asked[each].result()
            entry = entries[SEGMENT_MS]
            is_own = ConfigSource(entry.source) is ConfigSource.DYNAMIC_TOPIC_CONFIG
            found[each.name] = entry.value if is_own else None
        return found

    def write(self, topic: str, value: str | None) -> None:
        """Set the topic's own value. None: remove it, so that the broker's value applies.

        Raises TopicRefused for a missing topic, KafkaNotPermitted, BrokerUnreachable.
        """
        operation = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
        entry = ConfigEntry(SEGMENT_MS, value or "", incremental_operation=operation)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        right = Right("AlterConfigs", "topic", topic)
        with kafka_errors(f"Changing {SEGMENT_MS} of {topic}", right):
            asked = self._admin.incremental_alter_configs(
                [resource], request_timeout=_REQUEST_SECONDS
            )
            asked[resource].result()
