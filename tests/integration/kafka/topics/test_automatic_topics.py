"""Brokers that create topics by themselves, as Kafka's default settings say, create none for the
relay.
"""

from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import KafkaError, Message, Producer

from deploy.embedded import Kafka
from relay.kafka import TopicAdmin, TopicSpec, client_configuration
from relay.settings import KafkaSettings
from tests.support.waiting import wait_until


@pytest.fixture(scope="module")
def generous() -> Iterator[KafkaSettings]:
    """A broker that creates topics which a client asks for."""
    with Kafka({"auto.create.topics.enable": "true"}) as kafka:
        yield KafkaSettings(
            bootstrap_servers=kafka.bootstrap, replication_factor=1, min_insync_replicas=1
        )


def test_a_question_about_a_topic_creates_none(
    generous: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    topic, admin = fresh_name("asked"), TopicAdmin(generous)
    spec = TopicSpec(topic, 3, 1, {"retention.ms": "-1"})
    for _ in range(2):
        assert admin.state(topic) is None
        assert admin.create(spec, only_ask=True)
    assert topic not in admin.partition_counts()
    assert admin.create(spec)
    wait_until(lambda: admin.state(topic) is not None, "the broker knows the topic")
    found = admin.state(topic)
    assert found is not None
    assert (found.partitions, found.settings["retention.ms"]) == (3, "-1")


def test_a_message_for_a_missing_topic_is_refused(
    generous: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    topic, answers = fresh_name("gone"), list[str]()

    def answered(error: KafkaError | None, _: Message) -> None:
        answers.append("" if error is None else error.name())

    configuration = {
        **client_configuration(generous),
        "topic.metadata.propagation.max.ms": 1000,
        "message.timeout.ms": 5000,
    }
    producer = Producer(configuration)
    producer.produce(topic, b"row", on_delivery=answered)
    producer.flush(30)
    assert answers in (["_UNKNOWN_TOPIC"], ["UNKNOWN_TOPIC_OR_PART"])
    assert topic not in TopicAdmin(generous).partition_counts()
