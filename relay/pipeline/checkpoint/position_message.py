"""Makes the position record that closes a batch, and the relay's own records that are committed
with it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from relay.model.message import OutboundMessage
from relay.model.records.hashed_forms import HashedForms
from relay.model.records.position_record import PositionRecord
from relay.pipeline.active_mapping import ActiveMapping
from relay.pipeline.ingest.names.schema_history import TableNames
from relay.pipeline.messages.row_topics import RowTopics


class Closing(NamedTuple):
    """The last messages of a batch.

    record   the batch's position record, with the mapping sets that the position topic holds after
             the commit
    message  this record as a message
    beside   messages that are sent just before `message`, and not counted
    """

    record: PositionRecord
    message: OutboundMessage
    beside: list[OutboundMessage]


class PositionKeeper(Protocol):
    """Makes the messages that store a position record; the position store implements it."""

    def message(self, record: PositionRecord) -> OutboundMessage:
        """Return the position record as a message that joins a batch."""

    def history_messages(self, record: PositionRecord, now_ms: int) -> Sequence[OutboundMessage]:
        """Return the messages that store the record in the position history."""

    def keep_mappings(
        self, record: PositionRecord, contents: Mapping[str, Mapping[str, str]]
    ) -> tuple[PositionRecord, list[OutboundMessage]]:
        """Return the record with the mapping sets that the position topic will hold, and the
        messages that store or delete their documents.

        `contents` are the documents of the active set, by digest.
        """


class PositionMessages:
    """Makes the last messages of a batch; used by one thread.

    `names` maps each source to its schema history; None: the source has none.
    """

    def __init__(
        self,
        store: PositionKeeper,
        mapping: ActiveMapping,
        topics: RowTopics,
        names: Mapping[str, TableNames | None],
    ) -> None:
        self._store = store
        self._mapping = mapping
        self._topics = topics
        self._names = {source: each for source, each in names.items() if each is not None}

    @property
    def partitions(self) -> dict[str, int]:
        """Topic → number of the partitions to which its rows are assigned."""
        return dict(self._topics.counts)

    @property
    def partition_rules(self) -> dict[str, str]:
        """Topic → digest of the rules by which its rows are assigned to partitions."""
        return dict(self._topics.placed_by)

    @property
    def hashed_forms(self) -> HashedForms:
        """The text forms in which keys are hashed to partitions, by topic and table."""
        return self._topics.hashed_forms

    @property
    def formats(self) -> dict[str, str]:
        """Topic → format of its messages."""
        return dict(self._topics.formats)

    def closing(self, record: PositionRecord, now_ms: int) -> Closing:
        """Return the last messages of a batch: position history, mapping documents, schema history,
        and the record.

        `now_ms` is Unix time in milliseconds.
        """
        record, mappings = self._store.keep_mappings(record, self._mapping.documents)
        beside = [*self._store.history_messages(record, now_ms), *mappings]
        positions = record.positions
        for source, each in self._names.items():
            beside += each.taken(positions[source].binlog)
        return Closing(record, self._store.message(record), beside)
