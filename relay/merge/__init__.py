"""Merges the transactions of several sources into one order. Pure: no clock, no network.

The group's reading thread records the transactions that arrive in `MergeOrder`, which returns the
source of the next one.
"""

from relay.merge.merge_order import MergeOrder
from relay.merge.transaction_time import TimeOfTransaction, by_column, by_execute_time

__all__ = ["MergeOrder", "TimeOfTransaction", "by_column", "by_execute_time"]
