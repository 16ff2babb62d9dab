"""Computes the partition number of a row from its key, by Canal's partitionHash rules. Publishers
call it for each row.
"""

from relay.partition.java_hash import java_hash
from relay.partition.partition_hash import DEFAULT_RULE, HashedBy, PartitionRule, TablePartitioning

__all__ = ["DEFAULT_RULE", "HashedBy", "PartitionRule", "TablePartitioning", "java_hash"]
