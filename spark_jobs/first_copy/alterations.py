"""Reads when the tables of a source were last altered, by the source's own clock."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Event
from typing import Final, TypeAlias

from pyspark.sql import Row

from spark_jobs.origin import Shard, SourceDatabase
from spark_jobs.origin.shards import LogicalTable

Alterations: TypeAlias = Mapping[str, str | None]
"""Shard by name → the time of its last ALTER TABLE; None: the server does not report it."""

_PAUSE_S: Final = 0.2
_PAUSES: Final = 10
"""Waiting ends after two seconds: a clock that was set back may never reach the time again."""
_TIMES: Final = (
    "SELECT TABLE_SCHEMA AS db, TABLE_NAME AS tb, CAST(CREATE_TIME AS CHAR) AS altered, "
    "CREATE_TIME >= NOW() AS is_now FROM information_schema.TABLES WHERE "
)
_NOW: Final = "SELECT CAST(CREATE_TIME AS CHAR) FROM information_schema.TABLES WHERE "
_OTHER_TABLE: Final = "(SELECT 1 UNION ALL SELECT 2)"
"""A value that the server refuses to make: one row is expected there."""
_TABLE: Final = "(TABLE_SCHEMA = X'{}' AND TABLE_NAME = X'{}')"


def alterations(databases: Mapping[str, SourceDatabase], table: LogicalTable) -> Alterations:
    """Return when each shard was last altered; wait until the second of that time has passed.

    Every ALTER TABLE sets CREATE_TIME (seen on MySQL 5.6 and 9.7, MariaDB 10.11 and 11.4), in whole
    seconds. Because of the wait, a later ALTER TABLE sets another time. Raises SourceUnreachable or
    SourceRefused.
    """
    found: dict[str, str | None] = {}
    for instance in table.instances:
        shards = [each for each in table.shards if each.instance == instance]
        rows = _finished(partial(databases[instance].rows, _statement(shards)))
        times = {(row["db"], row["tb"]): row["altered"] for row in rows}
        found |= {each.name: times.get((each.real.database, each.real.table)) for each in shards}
    return found


def unswapped(shard: Shard, before: Alterations) -> str:
    """Return an SQL condition that makes the server raise an error if another table was renamed to
    the shard's name.

    `before` has the time of the shard's last ALTER TABLE. The condition compares it with the time
    of the table that has the name now. On MySQL 8 and later a RENAME does not change the times of
    the renamed tables. A query reads one table under the name from its beginning to its end.
    Returns "TRUE" if the time is unknown.
    """
    time = before.get(shard.name)
    if time is None:
        return "TRUE"
    where = _TABLE.format(shard.real.database.encode().hex(), shard.real.table.encode().hex())
    return f"IF(({_NOW}{where}) = '{time}', 1, {_OTHER_TABLE})"


def _statement(shards: Sequence[Shard]) -> str:
    names = ((each.real.database, each.real.table) for each in shards)
    return _TIMES + " OR ".join(
        _TABLE.format(database.encode().hex(), table.encode().hex()) for database, table in names
    )


def _finished(read: Callable[[], Sequence[Row]]) -> Sequence[Row]:
    rows = read()
    for _ in range(_PAUSES):
        if not any(row["is_now"] for row in rows):
            break
        Event().wait(_PAUSE_S)
        rows = read()
    return rows
