"""The input and output of a transform: rows as mappings of plain values.

This is the relay's interface for authors of transforms.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import TypeAlias

from relay.model.change import Operation

Plain: TypeAlias = "int | float | Decimal | str | bytes | None"
"""Integers, YEAR and BIT are int, DECIMAL is Decimal, bytes are bytes.

All else is the text that the server prints, JSON included.
"""

Image: TypeAlias = Mapping[str, Plain]
Lookup: TypeAlias = Callable[..., "Image | None"]
"""Arguments of its query → the first row of the answer, None if there is none."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a row: `before` is None for an insert, `after` for a delete.

    An image has no entry for a column that the row image in the binlog lacks.
    """

    table: str
    before: Image | None
    after: Image | None

    @property
    def operation(self) -> Operation:
        """Return the operation that follows from which of the two images is None."""
        if self.before is None:
            return Operation.INSERT
        return Operation.DELETE if self.after is None else Operation.UPDATE

    @property
    def row(self) -> Image:
        """Return the row after the change; for a delete, the deleted row."""
        row = self.before if self.after is None else self.after
        return row if row is not None else MappingProxyType({})

    def having(self, **values: Plain) -> "Change":
        """Return the same change with these values in both of its images."""
        return Change(self.table, _with(self.before, values), _with(self.after, values))


def _with(image: Image | None, values: Image) -> Image | None:
    return None if image is None else MappingProxyType({**image, **values})


TransformFunction: TypeAlias = Callable[[Change, Mapping[str, Lookup]], Iterable[Change]]
"""The change and the lookups by name → the published changes in this order: none, one or
several.
"""
