"""Merges the transactions of several sources into one order. Pure: no clock, no network.

The group's reading thread tells `MergeOrder` which transactions arrived, and takes the next one
from it.
"""

from relay.merge.merge_order import MergeOrder
from relay.merge.transaction_time import TimeOfTransaction, by_column, by_execute_time

__all__ = ["MergeOrder", "TimeOfTransaction", "by_column", "by_execute_time"]
