"""A table cut along its key, in the source's own order: any types, any number of key columns, no
lock.

A range lies between two keys of the table, the first left out and the last taken in. Where its ends
came from rows that are gone, or whose texts do not read back exactly, it is still the same cut on
both sides, so ranges neither overlap nor leave a gap.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from spark_jobs.origin.columns import SourceColumn
from spark_jobs.origin.shard import Shard
from spark_jobs.origin.texts import boundary_text, key_expression, literal
from spark_jobs.spark_util.identifiers import quoted

Boundary: TypeAlias = tuple[str, ...]
"""The texts of one key, as `boundary_text` gives them."""


@dataclass(frozen=True, slots=True)
class KeyRange:
    """The rows behind `after`, up to and with `until`; None is the table's own end."""

    after: Boundary | None = None
    until: Boundary | None = None

    def where(self, key: Sequence[SourceColumn]) -> str:
        """SQL that holds for the rows of the range."""
        conditions = []
        if self.after is not None:
            conditions.append(_compared(key, self.after, ">", last=">"))
        if self.until is not None:
            conditions.append(_compared(key, self.until, "<", last="<="))
        return " AND ".join(conditions) or "TRUE"


def next_boundary(shard: Shard, after: Boundary | None, rows: int) -> str:
    """SQL of the key that stands `rows` rows behind `after`, one text a column.

    No row where fewer are left.
    """
    names = ", ".join(
        f"{boundary_text(column)} AS k{number}" for number, column in enumerate(shard.key)
    )
    order = ", ".join(key_expression(column) for column in shard.key)
    where = KeyRange(after=after).where(shard.key)
    return (
        f"SELECT {names} FROM {table_of(shard)} WHERE {where} ORDER BY {order} LIMIT 1 OFFSET "
        f"{rows - 1}"
    )


def ranges_of(boundaries: Sequence[Boundary]) -> Iterator[KeyRange]:
    """The ranges that these boundaries, in their order, cut a whole table into."""
    after: Boundary | None = None
    for until in (*boundaries, None):
        yield KeyRange(after, until)
        after = until


def table_of(shard: Shard) -> str:
    """The real table's name as SQL."""
    return f"{quoted(shard.real.database)}.{quoted(shard.real.table)}"


def _compared(key: Sequence[SourceColumn], texts: Boundary, operator: str, *, last: str) -> str:
    """Compare column after column; servers use an index for this form, not for `(a, b) > (x,
    y)`.
    """
    first, value = key_expression(key[0]), literal(key[0], texts[0])
    if len(key) == 1:
        return f"{first} {last} {value}"
    rest = _compared(key[1:], texts[1:], operator, last=last)
    return f"({first} {operator}= {value} AND ({first} {operator} {value} OR ({rest})))"
