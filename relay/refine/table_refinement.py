"""Applies the row settings to one table: which rows are published, in which form, and with which
columns.
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
    """A filtered row: `reason` is a readable sentence, `cause` is the metric label."""

    reason: str
    cause: str


OPERATION: Final = NotPublished("a rule leaves its operation out.", "rule_operation")
CONDITION: Final = NotPublished("the condition of a rule is not true for it.", "rule_condition")
FIELDS: Final = NotPublished("it changes none of the columns that a rule lists.", "rule_fields")
TRANSFORM: Final = NotPublished("its transform returned no row.", "transform")


class TableRefinement:
    """Applies the row settings of one real table, in this order: rules, transform, field list,
    masks.

    definition  the table for partitioning, splitting and tags: the source's table with the columns
                that a transform adds
    published   the table as messages describe it
    pairs       number of order keys that each row of the source takes; None without a transform
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
        """The ordinals of the columns of `definition` that are not needed: no message contains
        them, and no transform receives them.

        Empty if there is a transform, because its function receives all columns.
        """
        if self._fields is None or self._transform is not None:
            return frozenset()
        return frozenset(range(len(self.definition.map.columns))).difference(self._fields)

    @property
    def conditional(self) -> bool:
        """Whether a rule has a condition, so that the values of a row decide whether it is
        published.
        """
        return bool(self._conditions)

    def takes(self, operation: Operation) -> bool:
        """Return whether the rules accept changes with this operation."""
        return operation in self._operations

    def changes(self, change: RowChange) -> Sequence[RowChange] | NotPublished:
        """Return the published changes of a change, as rows of `definition`; or why it is not
        published.

        Raises RowImageIncomplete, TransformFailed, LookupUnreachable, and the errors of values that
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
        """Return a change as messages contain it: with the columns of `published`, and masked
        values.
        """
        return RowChange(self._shown(change.before), self._shown(change.after))

    def hides(self, ordinal: int) -> bool:
        """Return whether the values of a column of `definition` must not leave the relay as they
        are.
        """
        return (bool(self._masked) and self._masked[ordinal] is not None) or (
            self._fields is not None and ordinal not in self._fields
        )

    def _seen(self, change: RowChange) -> RowChange | None:
        """Return the change as consumers of the rows under the condition see it; None if they see
        no change.

        An update that makes the condition true for a row becomes an insert. One that makes it false
        becomes a delete.
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
