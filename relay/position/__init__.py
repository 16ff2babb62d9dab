"""Position: remember how far the source is safely published."""

from relay.position.kafka_position_store import KafkaPositionStore
from relay.position.record import PositionRecord, SplitProgress

__all__ = ["KafkaPositionStore", "PositionRecord", "SplitProgress"]
