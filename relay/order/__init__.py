"""Assigns the order key to every change. Publishers write it into messages, and consumers compare
it.
"""

from relay.order.stamp import MAX_EPOCH, PositionParts, begin_transaction, compose, decompose

__all__ = ["MAX_EPOCH", "PositionParts", "begin_transaction", "compose", "decompose"]
