"""The only package that configures Kafka clients. It translates their errors and manages topics."""

from relay.kafka.client import ClientConfiguration, client_configuration, kafka_client
from relay.kafka.client_log import CLIENT_LOG, write_log_lines
from relay.kafka.consumer_groups import ConsumerGroups, GroupProgress, PartitionRange
from relay.kafka.erasing import (
    AT_ONCE,
    SEGMENT_MS,
    RewriteTurn,
    Rewritten,
    ScannedRecord,
    SegmentSetting,
    Tombstone,
    TombstoneProducer,
    TopicRewrite,
    scan_partition,
    scan_topic,
)
from relay.kafka.errors import RECHECKED, error_of, kafka_errors, relay_error, undelivered
from relay.kafka.message_sizes import message_bytes, topic_limit
from relay.kafka.metadata import cluster_metadata
from relay.kafka.partition_reader import KeyAndValue, PartitionReader, Record
from relay.kafka.rights import Right
from relay.kafka.topic_form import TopicSpec, TopicState
from relay.kafka.topic_rules import (
    TopicFinding,
    WantedTopic,
    position_topic_findings,
    row_topic_findings,
    surplus_partitions,
    transaction_timeout_error,
)
from relay.kafka.topic_tail import Offsets, TailRead, TailRecord, TopicTail
from relay.kafka.topics import TopicAdmin, accept

__all__ = [
    "AT_ONCE",
    "CLIENT_LOG",
    "RECHECKED",
    "SEGMENT_MS",
    "ClientConfiguration",
    "ConsumerGroups",
    "GroupProgress",
    "KeyAndValue",
    "Offsets",
    "PartitionRange",
    "PartitionReader",
    "Record",
    "RewriteTurn",
    "Rewritten",
    "Right",
    "ScannedRecord",
    "SegmentSetting",
    "TailRead",
    "TailRecord",
    "Tombstone",
    "TombstoneProducer",
    "TopicAdmin",
    "TopicFinding",
    "TopicRewrite",
    "TopicSpec",
    "TopicState",
    "TopicTail",
    "WantedTopic",
    "accept",
    "client_configuration",
    "cluster_metadata",
    "error_of",
    "kafka_client",
    "kafka_errors",
    "message_bytes",
    "position_topic_findings",
    "relay_error",
    "row_topic_findings",
    "scan_partition",
    "scan_topic",
    "surplus_partitions",
    "topic_limit",
    "transaction_timeout_error",
    "undelivered",
    "write_log_lines",
]
