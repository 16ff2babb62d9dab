"""The topic of the DDL is made with the row topic, so that a reader of both can start before the
first statement.
"""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from deploy.embedded import Kafka
from relay.errors import TopicRefused
from relay.kafka import TopicAdmin, TopicSpec
from relay.pipeline.delivery.message_size_limits import MessageSizes
from relay.pipeline.delivery.saved_position import PublishedPartitioning
from relay.pipeline.delivery.topics import Topics
from relay.settings import InstanceSettings, KafkaSettings
from tests.support.waiting import wait_until

NOBODY = cast(
    "Any",
    SimpleNamespace(
        partitions=lambda _topic: None,
        own=lambda _topic: None,
        own_format=lambda _topic: None,
        join=lambda _topic, _partitioning, _format: None,
        join_statements=lambda _topic, _format: None,
        others=lambda _topic: (),
        others_with_format=lambda _topic, _format: {},
        key_agreements=lambda _rules: None,
    ),
)


@pytest.fixture
def settings(kafka: Kafka) -> KafkaSettings:
    """A cluster of one broker."""
    return KafkaSettings(
        bootstrap_servers=kafka.bootstrap, replication_factor=1, min_insync_replicas=1
    )


def topics(settings: KafkaSettings, **sections: Mapping[str, Any]) -> Topics:
    source = {"host": "127.0.0.1", "user": "relay", "server_id": 1}
    instance = InstanceSettings.model_validate(
        {"name": "shop", "source": source, "partition": {"partitions_num": 2}, **sections}
    )
    return Topics(
        settings,
        instance,
        PublishedPartitioning({}, {}, {}, {}),
        MessageSizes(settings),
        NOBODY,
        NOBODY,
        in_use=lambda _: None,
    )


def test_the_ddl_topic_is_made_with_the_row_topic(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    topic, admin = fresh_name("rows"), TopicAdmin(settings)
    assert topics(settings).partitions(topic) == 2
    name = f"{topic}.ddl"  # a broker hears of it after the controller has made it
    wait_until(lambda: admin.state(name) is not None, "the topic of statements")
    state = admin.state(name)
    assert state is not None
    assert state.partitions == 1
    assert topics(settings).partitions(topic) == 2


@pytest.mark.parametrize(
    "sections",
    [
        {"message": {"ddl": "inline"}},
        {"message": {"ddl": "barrier"}},
        {"message": {"ddl": "drop"}},
        {"filter": {"operations": ["INSERT"]}},
    ],
    ids=["inline", "barrier", "drop", "no DDL published"],
)
def test_no_ddl_topic_is_made_where_no_ddl_goes_there(
    settings: KafkaSettings, fresh_name: Callable[[str], str], sections: Mapping[str, Any]
) -> None:
    topic = fresh_name("rows")
    assert topics(settings, **sections).partitions(topic) == 2
    assert TopicAdmin(settings).state(f"{topic}.ddl") is None


def test_a_ddl_topic_that_stands_otherwise_is_refused_before_the_first_row(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    topic = fresh_name("rows")
    TopicAdmin(settings).create(TopicSpec(f"{topic}.ddl", 1, 1, {"cleanup.policy": "compact"}))
    with pytest.raises(TopicRefused, match=f"{topic}.ddl"):
        topics(settings).partitions(topic)
