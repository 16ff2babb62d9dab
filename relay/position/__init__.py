"""Position: remember how far the source is safely published."""

from relay.position.kafka_position_store import KafkaPositionStore
from relay.position.kept_records import PREPARED, SCHEMA, KeptRecords
from relay.position.prepared_index import EventPart, PreparedIndex, RecordKeys

__all__ = ["PREPARED", "SCHEMA", "EventPart", "KafkaPositionStore", "KeptRecords", "PreparedIndex", "RecordKeys"]
