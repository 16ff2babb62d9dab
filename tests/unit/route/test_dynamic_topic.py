"""Every topic vector recorded from Canal's own class."""

import json
from pathlib import Path
from typing import Any

import pytest

from relay.model.table import TableId
from relay.route import dynamic_topic, kafka_topic, partitions_of

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "golden" / "partition_hash.json").read_text(encoding="utf-8"))


def _vectors(kind: str) -> list[Any]:
    return [pytest.param(vector, id=vector["id"]) for vector in VECTORS if vector["kind"] == kind]


@pytest.mark.parametrize("vector", _vectors("topic"))
def test_topics_are_canals(vector: dict[str, Any]) -> None:
    topic = dynamic_topic(vector["dynamicTopic"], TableId(vector["database"], vector["table"]), vector["defaultTopic"])
    assert [topic] == vector["expect"]["matched"]
    assert [kafka_topic(topic)] == vector["expect"]["kafkaTopics"]


@pytest.mark.parametrize("vector", _vectors("topicPartitions"))
def test_partition_counts_are_canals(vector: dict[str, Any]) -> None:
    assert partitions_of(vector["dynamicTopicPartitionNum"], vector["topic"]) == vector["expect"]["partitionsNum"]
