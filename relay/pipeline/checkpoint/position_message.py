"""The position record that closes a batch, and the records of the relay's own that are kept beside
it.
"""

from collections.abc import Mapping
from typing import NamedTuple

from relay.model.message import OutboundMessage
from relay.model.records.position_record import PositionRecord
from relay.pipeline.active_mapping import ActiveMapping
from relay.pipeline.delivery.topics import Topics
from relay.pipeline.ingest.schema_history import TableNames
from relay.position import KafkaPositionStore


class Closing(NamedTuple):
    """What ends a batch.

    `record`: what the batch holds, with the mapping sets that the position topic keeps once it is
    committed. `message`: the record as a message. `beside`: messages that are sent just before it
    and not counted.
    """

    record: PositionRecord
    message: OutboundMessage
    beside: list[OutboundMessage]


class PositionMessages:
    """Composes what closes a batch; used by one thread.

    `names` are the sources whose tables' history is kept.
    """

    def __init__(
        self,
        store: KafkaPositionStore,
        mapping: ActiveMapping,
        topics: Topics,
        names: Mapping[str, TableNames | None],
    ) -> None:
        self._store = store
        self._mapping = mapping
        self._topics = topics
        self._names = {source: each for source, each in names.items() if each is not None}

    @property
    def partitions(self) -> dict[str, int]:
        """By how many partitions the rows of each topic are placed."""
        return dict(self._topics.counts)

    @property
    def partition_rules(self) -> dict[str, str]:
        """The digest of the rules by which the rows of each topic are placed."""
        return dict(self._topics.placed_by)

    def closing(self, record: PositionRecord, now_ms: int) -> Closing:
        """Return what closes a batch with this record: position history, mapping documents, schema
        history, and the record.
        """
        record, mappings = self._store.keep_mappings(record, self._mapping.documents)
        beside = [*self._store.history_messages(record, now_ms), *mappings]
        positions = record.positions
        for source, each in self._names.items():
            beside += each.taken(positions[source].binlog)
        return Closing(record, self._store.message(record), beside)
