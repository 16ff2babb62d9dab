"""Order: stamp every change with the pair that consumers compare."""

from relay.order.stamp import MAX_EPOCH, PositionParts, begin_transaction, compose, decompose, file_number

__all__ = ["MAX_EPOCH", "PositionParts", "begin_transaction", "compose", "decompose", "file_number"]
