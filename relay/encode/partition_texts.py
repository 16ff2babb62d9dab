"""The texts of columns that partition rules hash.

They are Canal's texts in every value style, so that a row has the same partition as with Canal.
"""

from collections.abc import Sequence
from typing import Final

from relay.encode.texts.text_canal import canal_text
from relay.errors import RowImageIncomplete
from relay.model.table import TableDefinition
from relay.model.value import ABSENT, Row

_ONE_TEXT: Final = frozenset({int, str, bytes})
"""Python types whose equal values always print equal."""
_REMEDY = (
    "Set binlog_row_image=FULL on the source, or choose the partition of the table's rows by "
    "their key."
)


class PartitionTexts:
    """Prints the columns of one table's rows that its partition rule hashes."""

    __slots__ = ("_definition", "_ordinals", "_texts")

    def __init__(self, definition: TableDefinition, ordinals: Sequence[int]) -> None:
        self._definition = definition
        self._ordinals = tuple(ordinals)
        self._texts = tuple(
            canal_text(definition.map.columns[i], definition.type_texts[i]) for i in self._ordinals
        )

    def of(self, row: Row) -> tuple[str | None, ...]:
        """Return the texts of a row, in the order of `ordinals`; None for NULL.

        Raises RowImageIncomplete if the row lacks one of the columns: its partition is then
        unknown.
        """
        values = [row[i] for i in self._ordinals]
        if ABSENT in values:
            raise self._incomplete(self._ordinals[values.index(ABSENT)])
        return tuple(
            None if value is None else text(value)
            for text, value in zip(self._texts, values, strict=True)
        )

    def are_same(self, before: Row, after: Row) -> bool:
        """Return whether two rows certainly have the same texts, without printing them."""
        return all(before[i] == after[i] and type(before[i]) in _ONE_TEXT for i in self._ordinals)

    def _incomplete(self, ordinal: int) -> RowImageIncomplete:
        name = self._definition.map.columns[ordinal].name
        return RowImageIncomplete(
            f"A row of {self._definition.id} lacks column {name!r}, which selects its partition.",
            remedy=_REMEDY,
        )
