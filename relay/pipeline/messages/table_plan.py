"""Describes how the rows of one table are published under one mapping set: topics, key, tags and
printer.
"""

from dataclasses import dataclass
from typing import NamedTuple

from relay.encode import (
    KeyEncoder,
    RowHistory,
    RowsEncoder,
    key_changed,
    split_update,
)
from relay.model.change import RowChange
from relay.model.message import Headers
from relay.model.row_path import SlowReason
from relay.model.table import TableDefinition
from relay.model.value import same_value
from relay.pipeline.messages.printing.event_printer import (
    EventPrinter,
)
from relay.pipeline.messages.row_form import RowForm, TopicRoute
from relay.refine import TableRefinement
from relay.route import Destination


class PlannedChange(NamedTuple):
    """A change as it is published: a row change, or one half of a split update.

    `history` is None for a current row.
    """

    change: RowChange
    history: RowHistory | None = None

    def keys(self, plan: "TablePlan") -> KeyEncoder:
        """Return the encoder of the key of this change."""
        return plan.keys if self.history is None else self.history.keys


@dataclass(frozen=True, slots=True)
class TablePlan:
    """How one table is published under one mapping set.

    definition        the table by which rows are assigned to partitions
    destination       logical table, topics and tags
    forms             its topics by format, at least one
    keys              the encoder of keys of current rows
    tags              the headers with the tags of the table
    split_key_change  whether a changed key is published as a delete and an insert
    printer           the printer of whole events, or why rows are printed one by one
    refinement        rules, masks and transform; `forms` and `keys` then print the result
    history           how history rows of a system-versioned table are published
    """

    definition: TableDefinition
    destination: Destination
    forms: tuple[RowForm, ...]
    keys: KeyEncoder
    tags: Headers
    split_key_change: bool
    printer: EventPrinter | SlowReason = SlowReason.SETTING
    refinement: TableRefinement | None = None
    history: RowHistory | None = None

    @property
    def routes(self) -> tuple[TopicRoute, ...]:
        """All topics of the table."""
        first, *others = self.forms
        return sum((each.routes for each in others), start=first.routes)

    @property
    def rows(self) -> RowsEncoder:
        """The encoder of current rows for the first topic. If the table has a printer, all topics
        share it.
        """
        return self.forms[0].rows

    @property
    def printed_headers(self) -> Headers:
        """The headers after the order header of messages for the first topic, without
        field tags.
        """
        return (*self.tags, *self.forms[0].headers)

    @property
    def names_coordinates(self) -> bool:
        """Return whether messages for some topic contain the binlog coordinates of their event."""
        return any(each.names_coordinates for each in self.forms)

    @property
    def limit_bytes(self) -> int:
        """The size in bytes of the largest message that every topic of the table accepts."""
        return min(route.limit_bytes for route in self.routes)

    def splits(self, change: RowChange) -> bool:
        """Return whether an update is published as a delete and an insert."""
        if change.before is None or change.after is None:
            return False
        if self.history is not None and self.history.splits(change):
            return True
        if key_changed(change, self.definition):
            return self.split_key_change
        return any(route.changes_partition(change) for route in self.routes)

    def parts(self, change: RowChange) -> tuple[PlannedChange, ...]:
        """Return the changes as which a row change is published: the change itself, or the delete
        and the insert of a split update.
        """
        history = self.history
        if not self.splits(change):
            return (
                PlannedChange(
                    change, history if history is not None and history.holds(change) else None
                ),
            )
        if history is None:
            return tuple(PlannedChange(half) for half in split_update(change))
        return tuple(
            PlannedChange(half, history if past else None) for half, past in history.halves(change)
        )

    @property
    def undecodable(self) -> tuple[int, ...]:
        """Return how many values each encoder has printed with U+FFFD since the counts were last
        taken.
        """
        return tuple(each.undecodable_values for each in self._encoders)

    def count_undecodable(self, counts: tuple[int, ...]) -> None:
        """Set the counts of undecodable values back to `counts`, because the messages printed since
        then are not used.
        """
        for encoder, count in zip(self._encoders, counts, strict=True):
            encoder.undecodable_values = count

    def take_undecodable(self) -> int:
        """Return how many values were printed with U+FFFD since the last call, and reset the
        counts.
        """
        return sum(each.take_undecodable() for each in self._encoders)

    @property
    def _encoders(self) -> tuple[RowsEncoder, ...]:
        return tuple(
            encoder
            for form in self.forms
            for encoder in (form.rows, form.past)
            if encoder is not None
        )


def changed_columns(change: RowChange, definition: TableDefinition) -> list[str] | None:
    """Return the names of the columns that an update changes; None for an insert or a delete, which
    change every column.
    """
    if change.before is None or change.after is None:
        return None
    columns = definition.map.columns
    return [
        columns[i].name
        for i, (a, b) in enumerate(zip(change.before, change.after, strict=True))
        if not same_value(a, b)
    ]
