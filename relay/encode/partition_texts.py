"""The texts that partition rules hash: Canal's, whatever the style of the value, so that a row lies where Canal would put it."""

from collections.abc import Sequence

from relay.encode.text_canal import canal_text
from relay.model.table import TableDefinition
from relay.model.value import ABSENT, Row


class PartitionTexts:
    """Prints chosen columns of one table's rows."""

    __slots__ = ("_ordinals", "_texts")

    def __init__(self, definition: TableDefinition, ordinals: Sequence[int]) -> None:
        self._ordinals = tuple(ordinals)
        self._texts = tuple(canal_text(definition.map.columns[i], definition.type_texts[i]) for i in self._ordinals)

    def of(self, row: Row) -> tuple[str | None, ...]:
        """Return the texts of a row in the order of the columns chosen; None for NULL and for columns that the image lacks."""
        values = zip(self._texts, self._ordinals, strict=True)
        return tuple(None if row[i] is None or row[i] is ABSENT else text(row[i]) for text, i in values)
