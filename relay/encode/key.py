"""Message keys: a JSON array of the logical table's name and the key's values. The values are exact
texts in every value style.
"""

from typing import Final

import orjson

from relay.encode.texts.key_text import KeyText, key_text
from relay.encode.texts.text_exact import exact_text
from relay.errors import RowImageIncomplete
from relay.model.change import RowChange
from relay.model.table import ColumnType, TableDefinition, TableId
from relay.model.value import ABSENT, Row, Value, same_value

_UNKNOWN_NAME: Final = "A key column is missing from both images of a row of {}."


class KeyEncoder:
    """Encodes the keys of one table.

    `shard` is the real table. It follows the logical name in keys if keys are unique only in their
    shard.
    """

    __slots__ = ("_name", "_ordinals", "_prefix", "_texts", "is_in_values", "undecodable_values")

    def __init__(
        self,
        definition: TableDefinition,
        name: TableId,
        shard: TableId | None = None,
        *,
        as_printed: bool = False,
    ) -> None:
        """`as_printed`: use the texts of the message's values in the exact style. Different values
        may then have equal texts.
        """
        self.undecodable_values = 0
        self.is_in_values = as_printed or not has_longer_key(definition)
        """Whether a reader can build the key from the message's values, if no value has undecodable
        bytes.
        """
        self._name = name
        self._ordinals = definition.key
        self._prefix = [str(name)] if shard is None else [str(name), str(shard)]
        self._texts = tuple(
            (exact_text if as_printed else key_text)(
                definition.map.columns[ordinal],
                definition.type_texts[ordinal],
                self._count_undecodable,
            )
            for ordinal in definition.key
        )

    def encode(self, change: RowChange) -> bytes | None:
        """Return the key of a change, for an update the key of the row after it; None for a table
        without a key.

        Raises RowImageIncomplete if neither image has the whole key.
        """
        if not self._ordinals:
            return None
        texts = [
            _text(text, self._value(change, ordinal))
            for text, ordinal in zip(self._texts, self._ordinals, strict=True)
        ]
        return orjson.dumps([*self._prefix, *texts])

    def _value(self, change: RowChange, ordinal: int) -> Value:
        value = _value_at(change.after, ordinal)
        if value is ABSENT:
            value = _value_at(change.before, ordinal)
        if value is ABSENT:
            raise RowImageIncomplete(_UNKNOWN_NAME.format(self._name))
        return value

    def _count_undecodable(self) -> None:
        self.undecodable_values += 1


def has_longer_key(definition: TableDefinition) -> bool:
    """Return whether a FLOAT is part of the key. Its text in the key may have more digits than in
    the message's values.
    """
    return any(
        definition.map.columns[ordinal].type is ColumnType.FLOAT for ordinal in definition.key
    )


def key_changed(change: RowChange, definition: TableDefinition) -> bool:
    """Return whether an update gives the row another key."""
    before, after = change.before, change.after
    if before is None or after is None:
        return False
    return any(
        after[ordinal] is not ABSENT
        and before[ordinal] is not ABSENT
        and not same_value(before[ordinal], after[ordinal])
        for ordinal in definition.key
    )


def split_update(change: RowChange) -> tuple[RowChange, RowChange]:
    """Return an update of the key as two changes: the delete of the old row and the insert of the
    new one.
    """
    return RowChange(change.before, None), RowChange(None, change.after)


def _value_at(row: Row | None, ordinal: int) -> Value:
    return ABSENT if row is None else row[ordinal]


def _text(text: KeyText, value: Value) -> object:
    return None if value is None else text(value)
