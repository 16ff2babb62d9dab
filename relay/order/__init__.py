"""Order: assign to every change the order key that consumers compare."""

from relay.order.stamp import MAX_EPOCH, PositionParts, begin_transaction, compose, decompose

__all__ = ["MAX_EPOCH", "PositionParts", "begin_transaction", "compose", "decompose"]
