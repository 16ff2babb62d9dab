"""A tombstone is written only where its key has no later record."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from deploy.embedded import Kafka
from relay.kafka import Tombstone, TombstoneProducer
from relay.settings import KafkaSettings
from tests.servers.fixtures import FreshName
from tests.support.rows.topic_clients import admin_of
from tests.support.rows.topic_reading import read_topic

USED, GONE = b'["shop.client","7"]', b'["shop.client","8"]'


@pytest.fixture
def topic(kafka: Kafka, fresh_name: FreshName) -> str:
    name = fresh_name("tombstones")
    with admin_of(kafka.bootstrap) as admin:
        new = NewTopic(name, 1, 1, config={"cleanup.policy": "compact"})
        admin.create_topics([new])[name].result(20)
    return name


class Writing(TombstoneProducer):
    """Others publish a row just before, or after, the tombstones are handed over."""

    def __init__(self, *arguments: Any, bootstrap: str, before: bool) -> None:
        super().__init__(*arguments)
        self._bootstrap = bootstrap
        self._before = before
        self.attempts = 0

    def _produced(self, producer: Producer, topic: str, tombstones: Any) -> dict[int, list[int]]:
        self.attempts += 1
        if self._before and self.attempts == 1:
            publish(self._bootstrap, topic, USED)
        found = super()._produced(producer, topic, tombstones)
        if not self._before:
            publish(self._bootstrap, topic, USED)
        return found


def publish(bootstrap: str, topic: str, key: bytes) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce(topic, b"{}", key)
    assert producer.flush(20) == 0


def written(kafka: Kafka, topic: str, *, before: bool) -> tuple[Sequence[Tombstone], int]:
    turn: Any = SimpleNamespace(transactional_id=f"{topic}.erase", check=lambda: None)
    settings = KafkaSettings(bootstrap_servers=kafka.bootstrap)
    producer = Writing(settings, turn, bootstrap=kafka.bootstrap, before=before)
    asked = [Tombstone(0, USED), Tombstone(0, GONE)]
    return producer.write(topic, asked, {0: 2}), producer.attempts


@pytest.mark.timeout(120)
def test_a_row_that_comes_after_the_search_stays(kafka: Kafka, topic: str) -> None:
    for key in (USED, GONE, USED):
        publish(kafka.bootstrap, topic, key)
    assert written(kafka, topic, before=False) == ([Tombstone(0, GONE)], 1)


@pytest.mark.timeout(120)
def test_a_row_that_comes_just_before_its_tombstone_stays(kafka: Kafka, topic: str) -> None:
    for key in (USED, GONE):
        publish(kafka.bootstrap, topic, key)
    assert written(kafka, topic, before=True) == ([Tombstone(0, GONE)], 2)
    found = [(each.key, each.value is None) for each in read_topic(kafka.bootstrap, topic)]
    assert found[2:] == [(USED, False), (GONE, True)]


@pytest.mark.timeout(120)
def test_a_row_that_comes_after_its_tombstone_does_not_matter(kafka: Kafka, topic: str) -> None:
    for key in (USED, GONE):
        publish(kafka.bootstrap, topic, key)
    assert written(kafka, topic, before=False) == ([Tombstone(0, USED), Tombstone(0, GONE)], 1)
