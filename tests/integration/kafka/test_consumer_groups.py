"""Groups of a real cluster, also those that have committed nothing."""

from collections.abc import Callable
from contextlib import closing

from confluent_kafka import Consumer, TopicPartition

from deploy.embedded import Kafka
from relay.kafka import TopicAdmin, TopicSpec
from relay.kafka.consumer_groups import ConsumerGroups
from relay.settings import KafkaSettings
from tests.support.waiting import wait_until


def test_a_group_that_has_committed_nothing_is_left_out(
    kafka: Kafka, fresh_name: Callable[[str], str]
) -> None:
    """The client library must survive the answer without offsets, too."""
    settings = KafkaSettings(
        bootstrap_servers=kafka.bootstrap, replication_factor=1, min_insync_replicas=1
    )
    topic, group = fresh_name("read"), fresh_name("group")
    TopicAdmin(settings).create(TopicSpec(topic, 1, 1, {}))
    groups = ConsumerGroups(settings)
    consumer = Consumer(
        {"bootstrap.servers": kafka.bootstrap, "group.id": group, "enable.auto.commit": False}
    )
    with closing(consumer):
        consumer.subscribe([topic])
        wait_until(lambda: consumer.poll(0.2) is None and bool(consumer.assignment()), "the group")
        ranges = groups.ranges({topic: 1})
        assert [each for each in groups.progress(ranges) if each.group == group] == []
        consumer.commit(offsets=[TopicPartition(topic, 0, 0)], asynchronous=False)
        found = [each for each in groups.progress(ranges) if each.group == group]
    assert [(each.topic, each.behind, each.partitions) for each in found] == [(topic, 0, 1)]
