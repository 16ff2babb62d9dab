"""Partition: from a row's key to a partition number, by Canal's partitionHash rule."""

from relay.partition.java_hash import java_hash
from relay.partition.partition_hash import DEFAULT_RULE, HashedBy, PartitionRule, TablePartitioning

__all__ = ["DEFAULT_RULE", "HashedBy", "PartitionRule", "TablePartitioning", "java_hash"]
