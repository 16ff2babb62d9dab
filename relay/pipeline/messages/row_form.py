"""Groups the topics of a table by format, with the encoders of its rows."""

from dataclasses import dataclass

from relay.encode import PartitionTexts, RowHistory, RowsEncoder
from relay.model.change import RowChange
from relay.model.message import Headers
from relay.model.value import Row
from relay.partition import TablePartitioning


@dataclass(frozen=True, slots=True)
class TopicRoute:
    """A topic of a table's rows.

    topic         name of the topic
    partitioning  how rows are assigned to its partitions
    texts         gives the texts of the hashed columns
    limit_bytes   the largest message that the topic accepts, in bytes
    """

    topic: str
    partitioning: TablePartitioning
    texts: PartitionTexts
    limit_bytes: int

    def partition(self, change: RowChange) -> int:
        """Return the partition of a change.

        The partition follows from the row's values after the change; for a delete, from its values
        before the change.
        """
        row: Row = (change.before if change.after is None else change.after) or ()
        return self.partitioning.partition_of(self.texts.of(row))

    def changes_partition(self, change: RowChange) -> bool:
        """Return whether an update changes columns that decide the partition."""
        if (
            change.before is None
            or change.after is None
            or self.texts.are_same(change.before, change.after)
        ):
            return False
        return self.partitioning.changes_partition(
            self.texts.of(change.before), self.texts.of(change.after)
        )


@dataclass(frozen=True, slots=True)
class RowForm:
    """The topics of a table that have one format, and the encoders of that format.

    routes             the topics
    rows               encodes current rows
    past               encodes history rows; None: the table has none
    headers            the format's own headers, on each message with a value
    names_coordinates  True: messages contain the binlog coordinates of their event
    """

    routes: tuple[TopicRoute, ...]
    rows: RowsEncoder
    past: RowsEncoder | None = None
    headers: Headers = ()
    names_coordinates: bool = False

    def encoder(self, history: RowHistory | None) -> RowsEncoder:
        """Return the encoder of a row; `history` is None for a current row."""
        return self.rows if history is None or self.past is None else self.past

    def without_value(self, headers: Headers) -> Headers:
        """Return the headers of a tombstone: the headers of its DELETE without those of
        the format.
        """
        return tuple(each for each in headers if each not in self.headers)
