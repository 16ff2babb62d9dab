"""The record of a quiet instance, which a heartbeat or a move of the position writes, has all that
its topics had: partitions, rules, forms of keys and formats.
"""

from types import SimpleNamespace
from typing import Any

from relay.model.records.position_record import PositionRecord
from relay.pipeline.checkpoint.position_message import PositionMessages
from relay.pipeline.delivery.message_size_limits import MessageSizes
from relay.pipeline.delivery.saved_position import PublishedPartitioning
from relay.pipeline.delivery.topics import Topics
from relay.settings import InstanceSettings, KafkaSettings

SAVED = PublishedPartitioning(
    {"shop": 4, "former": 2},
    {"shop": "a digest"},
    {"shop": {"shop.people": ("latin1", "?")}},
    {"shop": "avro", "former": "canal-json"},
)


def test_a_record_without_a_row_has_what_was_saved() -> None:
    kafka = KafkaSettings(bootstrap_servers="127.0.0.1:1")
    instance = InstanceSettings.model_validate(
        {
            "name": "shop",
            "source": {"host": "h", "user": "u"},
            "heartbeat": {"topic": "beats"},
            "transaction": {"topic": "reports"},
        }
    )
    nobody: Any = SimpleNamespace(key_agreements=lambda _: None)
    topics = Topics(
        kafka, instance, SAVED, MessageSizes(kafka), nobody, nobody, in_use=lambda _: None
    )
    messages = PositionMessages(nobody, nobody, topics, {})
    assert PublishedPartitioning.of(_record(messages)) == SAVED


def _record(messages: PositionMessages) -> PositionRecord:
    """Return a record with these fields, as the checkpoint composes it."""
    record: Any = SimpleNamespace(
        partitions=messages.partitions,
        placed_by=messages.partition_rules,
        hashed_forms=messages.hashed_forms,
        formats=messages.formats,
    )
    made: PositionRecord = record
    return made
