"""Estimates the number of rows in a server's tables."""

from collections.abc import Mapping, Sequence

from spark_jobs.origin.database import SourceDatabase
from spark_jobs.origin.shard import Shard


def estimated_rows(databases: Mapping[str, SourceDatabase], shards: Sequence[Shard]) -> int | None:
    """Return the number of rows in the shards by the servers' statistics, which may be inaccurate.

    Returns None if the statistics of a shard are missing.
    """
    found = [_estimate(databases[shard.instance], shard) for shard in shards]
    return sum(found) or None if all(found) else None


def _estimate(database: SourceDatabase, shard: Shard) -> int:
    where = (
        f"TABLE_SCHEMA = {_text(shard.real.database)} AND TABLE_NAME = {_text(shard.real.table)}"
    )
    rows = database.rows(
        f"SELECT CAST(COALESCE(TABLE_ROWS, 0) AS CHAR) AS estimate FROM "
        f"information_schema.TABLES WHERE {where}"
    )
    return int(rows[0]["estimate"]) if rows else 0


def _text(name: str) -> str:
    """The name as hexadecimal digits, in which nothing needs an escape."""
    return f"X'{name.encode().hex()}'"
