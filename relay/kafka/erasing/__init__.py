"""Removes records: writes tombstones, deletes records, and rewrites a topic."""

from relay.kafka.erasing.rewrite_turn import RewriteTurn
from relay.kafka.erasing.segment_setting import AT_ONCE, SEGMENT_MS, SegmentSetting
from relay.kafka.erasing.tombstones import Tombstone, TombstoneProducer
from relay.kafka.erasing.topic_rewrite import Rewritten, TopicRewrite, delete_records
from relay.kafka.erasing.topic_scan import ScannedRecord, scan_partition, scan_topic

__all__ = [
    "AT_ONCE",
    "SEGMENT_MS",
    "RewriteTurn",
    "Rewritten",
    "ScannedRecord",
    "SegmentSetting",
    "Tombstone",
    "TombstoneProducer",
    "TopicRewrite",
    "delete_records",
    "scan_partition",
    "scan_topic",
]
