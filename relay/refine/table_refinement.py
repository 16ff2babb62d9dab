"""What the rules of the settings make of the rows of one table: which are published, as what, and
with which columns.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from relay.model.change import Operation, RowChange
from relay.model.table import TableDefinition
from relay.model.value import Row
from relay.refine.bound_condition import Holds
from relay.refine.columns import only, touches
from relay.refine.masks import MaskedColumn
from relay.refine.transform import TableTransform


class NotPublished(NamedTuple):
    """A row is left out: a sentence for people, and a word for counting."""

    reason: str
    cause: str


OPERATION: Final = NotPublished("a rule leaves its operation out.", "rule_operation")
CONDITION: Final = NotPublished("the condition of a rule does not hold.", "rule_condition")
FIELDS: Final = NotPublished("it touches none of the fields of a rule.", "rule_fields")
TRANSFORM: Final = NotPublished("its transform makes nothing of it.", "transform")


class TableRefinement:
    """Rules, transform, field list and masks of one real table, in this order.

    `definition` is the table that rows are placed, split and tagged by: the source's, with what a
    transform adds. `published` is the one that messages speak of. `pairs` is how many order pairs a
    row takes where its changes do not say, None without a transform.
    """

    def __init__(
        self,
        definition: TableDefinition,
        published: TableDefinition,
        operations: frozenset[Operation],
        conditions: Sequence[Holds],
        transform: TableTransform | None,
        fields: tuple[int, ...] | None,
        masked: dict[int, MaskedColumn],
    ) -> None:
        self.definition = definition
        self.published = published
        self.pairs = None if transform is None else transform.pairs
        self._operations = operations
        self._conditions = conditions
        self._transform = transform
        self._fields = fields
        self._masked = tuple(map(masked.get, range(len(definition.map.columns)))) if masked else ()

    @property
    def omitted(self) -> frozenset[int]:
        """The columns of `definition` that no message has.

        None where a transform is given all columns.
        """
        if self._fields is None or self._transform is not None:
            return frozenset()
        return frozenset(range(len(self.definition.map.columns))).difference(self._fields)

    @property
    def conditional(self) -> bool:
        """Whether a row may be left out for its values."""
        return bool(self._conditions)

    def takes(self, operation: Operation) -> bool:
        """Say whether changes of this kind may be published at all."""
        return operation in self._operations

    def changes(self, change: RowChange) -> Sequence[RowChange] | NotPublished:
        """Return what a change is published as, rows of `definition`; or why not at all.

        Raises RowImageIncomplete, TransformFailed, LookupUnreachable, and what a value raises that
        cannot be printed.
        """
        seen = self._seen(change)
        if seen is None:
            return CONDITION
        made = (seen,) if self._transform is None else self._transform.changes(seen)
        if not made:
            return TRANSFORM
        kept = (
            made if self._fields is None else [each for each in made if touches(each, self._fields)]
        )
        return kept or FIELDS

    def shown(self, change: RowChange) -> RowChange:
        """Return a change as messages hold it: with the columns of `published`, and what is masked
        there.
        """
        return RowChange(self._shown(change.before), self._shown(change.after))

    def hides(self, ordinal: int) -> bool:
        """Say whether the values of a column of `definition` must not leave the relay as they
        are.
        """
        return (bool(self._masked) and self._masked[ordinal] is not None) or (
            self._fields is not None and ordinal not in self._fields
        )

    def _seen(self, change: RowChange) -> RowChange | None:
        """A row that comes under the condition is inserted for those who read, and one that leaves
        it is deleted.
        """
        if not self._conditions:
            return change
        before = change.before if change.before is not None and self._holds(change.before) else None
        after = change.after if change.after is not None and self._holds(change.after) else None
        return None if before is None and after is None else RowChange(before, after)

    def _holds(self, row: Row) -> bool:
        return all(holds(row) for holds in self._conditions)

    def _shown(self, row: Row | None) -> Row | None:
        if row is None:
            return None
        if self._masked:
            row = tuple(
                [
                    each if masked is None else masked.value(each)
                    for each, masked in zip(row, self._masked, strict=True)
                ]
            )
        return row if self._fields is None else only(row, self._fields)
