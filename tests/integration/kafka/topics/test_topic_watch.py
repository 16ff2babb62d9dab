"""What an operator does to a topic while rows flow shows in the log."""

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewPartitions
from structlog.testing import capture_logs

from deploy.embedded import Kafka
from relay.kafka import TopicAdmin, TopicSpec
from relay.pipeline.delivery.message_size_limits import MessageSizes
from relay.pipeline.delivery.saved_position import PublishedPartitioning
from relay.pipeline.delivery.topic_monitor import watched
from relay.pipeline.delivery.topics import Topics
from relay.settings import InstanceSettings, KafkaSettings, SourceSettings
from tests.support.waiting import wait_until


def test_partitions_that_are_added_while_rows_flow_are_warned_of_once(
    kafka: Kafka, fresh_name: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relay.pipeline.delivery.topic_monitor._POLL_SECONDS", 0.1)
    settings = KafkaSettings(
        bootstrap_servers=kafka.bootstrap, replication_factor=1, min_insync_replicas=1
    )
    topic = fresh_name("raised")
    TopicAdmin(settings).create(TopicSpec(topic, 2, 1))
    instance = InstanceSettings(
        name="shop", source=SourceSettings(host="127.0.0.1", user="relay", server_id=1)
    )
    nobody: Any = SimpleNamespace(key_agreements=lambda _: None)
    topics = Topics(
        settings,
        instance,
        PublishedPartitioning({topic: 2}, {}, {}, {}),
        MessageSizes(settings),
        nobody,
        nobody,
        in_use=lambda _: None,
    )
    with capture_logs() as logs, watched(topics, settings, "shop"):
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
        admin.create_partitions([NewPartitions(topic, 6)])[topic].result(60)
        wait_until(lambda: bool(warnings(logs, topic)), "the warning")
        topics.warn_of_surplus(TopicAdmin(settings).partition_counts())
    assert warnings(logs, topic) == [
        (
            f"Topic {topic} has 6 partitions, and rows go only to the first 2, so that each key "
            "stays in its partition."
        )
    ]
    assert topics.counts == {topic: 2}


def warnings(logs: Sequence[Mapping[str, str]], topic: str) -> list[str]:
    return [
        each["reason"]
        for each in logs
        if each["event"] == "topic_warning" and topic in each["reason"]
    ]
