"""Cuts a shard's table into ranges of its key, without a lock."""

from collections.abc import Iterator, Sequence

from relay.model.source_rows.key_range import Boundary, KeyRange
from relay.model.source_rows.texts import boundary_text, key_expression
from spark_jobs.origin.shard import Shard
from spark_jobs.spark_util.identifiers import quoted


def next_boundary(shard: Shard, after: Boundary | None, rows: int) -> str:
    """Return the SQL of the key `rows` rows after `after`, one text per column.

    No row if fewer are left.
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
    """Yield the ranges that these boundaries, in their order, cut a whole table into."""
    after: Boundary | None = None
    for until in (*boundaries, None):
        yield KeyRange(after, until)
        after = until


def table_of(shard: Shard) -> str:
    """Return the real table's name as SQL."""
    return f"{quoted(shard.real.database)}.{quoted(shard.real.table)}"
