"""A topic that was just made is waited for; one that nobody makes is refused."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

import pytest

from deploy.embedded.servers.kafka import Kafka
from relay.errors import PositionUnreadable, TopicRefused
from relay.kafka import PartitionReader, TopicAdmin, TopicSpec
from relay.settings import KafkaSettings


@pytest.fixture
def settings(kafka: Kafka) -> KafkaSettings:
    return KafkaSettings(
        bootstrap_servers=kafka.bootstrap, replication_factor=1, min_insync_replicas=1
    )


def test_a_topic_that_appears_while_it_is_asked_for_is_read(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    topic = fresh_name("appearing")
    reader = PartitionReader(settings, topic, PositionUnreadable, appearing_s=60)
    with ThreadPoolExecutor(1) as pool:
        ends = pool.submit(reader.ends)
        assert not wait([ends], timeout=1).done, "nobody has made the topic yet"
        TopicAdmin(settings).create(TopicSpec(topic, 1, 1, {}))
        assert ends.result(30) == (0, 0)
    assert list(reader.committed(0, 0)) == []


def test_a_topic_that_nobody_makes_is_refused(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    with pytest.raises(TopicRefused, match="nobody"):
        PartitionReader(settings, fresh_name("nobody"), PositionUnreadable, appearing_s=0.5).ends()
