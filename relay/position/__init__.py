"""Position: remember how far the source is safely published."""

from relay.position.kafka_position_store import KafkaPositionStore
from relay.position.kept_records import PREPARED, SCHEMA, KeptRecords

__all__ = ["PREPARED", "SCHEMA", "KafkaPositionStore", "KeptRecords"]
