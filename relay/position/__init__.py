"""Stores the position up to which the changes of a source are published, and the records that
belong to it.
"""

from relay.model.names.own_topics import PREPARED, SCHEMA
from relay.position.kept_mapping import keep_named, kept_documents
from relay.position.kept_records import KeptRecords
from relay.position.position_topic import (
    KafkaPositionStore,
    position_prefix,
    position_topics,
)
from relay.position.prepared_index import EventPart, PreparedIndex, RecordKeys
from relay.position.record_topic import RecordTopic

__all__ = [
    "PREPARED",
    "SCHEMA",
    "EventPart",
    "KafkaPositionStore",
    "KeptRecords",
    "PreparedIndex",
    "RecordKeys",
    "RecordTopic",
    "keep_named",
    "kept_documents",
    "position_prefix",
    "position_topics",
]
