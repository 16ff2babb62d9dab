"""Cuts a shard's table into ranges of its key, without a lock."""

from collections.abc import Iterator, Sequence

from relay.model.source_rows.key_range import Boundary, KeyRange
from relay.model.source_rows.texts import boundary_text, key_expression
from spark_jobs.origin.shard import Shard
from spark_jobs.spark_util.identifiers import quoted


def next_boundary(shard: Shard, after: Boundary | None, rows: int) -> str:
    """Return the query for the key that is `rows` rows after `after`, one text for each column.

    The query returns no row if fewer rows remain. `after` None: from the beginning of the table.
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
    """Yield the ranges into which these sorted boundaries cut a whole table."""
    after: Boundary | None = None
    for until in (*boundaries, None):
        yield KeyRange(after, until)
        after = until


def table_of(shard: Shard) -> str:
    """Return the quoted name of the shard's real table."""
    return f"{quoted(shard.real.database)}.{quoted(shard.real.table)}"
