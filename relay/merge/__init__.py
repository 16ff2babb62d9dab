"""Several sources → one order of whole transactions. Pure: no clock, no network."""

from relay.merge.merge_order import MergeOrder
from relay.merge.transaction_time import TimeOfTransaction, by_column, by_execute_time

__all__ = ["MergeOrder", "TimeOfTransaction", "by_column", "by_execute_time"]
