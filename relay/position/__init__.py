"""Position: remember how far the source is safely published."""

from relay.position.kafka_position_store import KafkaPositionStore
from relay.position.kept_records import PREPARED, SCHEMA, KeptRecords
from relay.position.record import OtherSource, PositionRecord, Replay, SplitProgress

__all__ = ["PREPARED", "SCHEMA", "KafkaPositionStore", "KeptRecords", "OtherSource", "PositionRecord", "Replay", "SplitProgress"]
