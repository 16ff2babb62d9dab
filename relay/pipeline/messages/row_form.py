"""Where the rows of a table go, and what prints them there."""

from dataclasses import dataclass

from relay.encode import PartitionTexts, RowHistory, RowsEncoder
from relay.model.change import RowChange
from relay.model.message import Headers
from relay.model.value import Row
from relay.partition import TablePartitioning


@dataclass(frozen=True, slots=True)
class TopicRoute:
    """A topic that a table's rows go to: how they are partitioned there, and its largest message in
    bytes.
    """

    topic: str
    partitioning: TablePartitioning
    texts: PartitionTexts
    limit_bytes: int

    def partition(self, change: RowChange) -> int:
        """Return the partition of a change: by the image after; for a delete, before."""
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
    """The topics of a table that have one format, and what prints its rows for them.

    `rows` prints current rows, and `past` history rows, where the table has any. `headers` are the
    format's own: each message with a value has them. `names_coordinates`: messages contain
    the coordinates of their event.
    """

    routes: tuple[TopicRoute, ...]
    rows: RowsEncoder
    past: RowsEncoder | None = None
    headers: Headers = ()
    names_coordinates: bool = False

    def encoder(self, history: RowHistory | None) -> RowsEncoder:
        """Return what prints a row; `history` is None for a current one."""
        return self.rows if history is None or self.past is None else self.past

    def without_value(self, headers: Headers) -> Headers:
        """Return the headers of a tombstone: those of its DELETE without the format's."""
        return tuple(each for each in headers if each not in self.headers)
