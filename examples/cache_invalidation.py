"""A cache in Redis or Valkey that has no row which changed in the database.

    python examples/cache_invalidation.py shop.orders GROUP localhost:6379

Takes every changed row of a logical table out of the cache. Services read through `ReadThrough`: a
row that was loaded before its change cannot be put into the cache after it. Deleting twice does no
harm, so at-least-once delivery is enough, also after kill -9. ROMA_ADMIN and ROMA_TOKEN name the
admin and a token with the role viewer. It ends with SIGTERM.
"""

import signal
import sys
from collections.abc import Callable
from typing import Final

import redis

from roma_client import Change, Subscription

GUARD_SECONDS: Final = 60
"""No load of a row takes longer."""


class ReadThrough:
    """Rows by key, from the cache, else by `load` from the database."""

    def __init__(self, cache: redis.Redis, table: str, load: Callable[[str], str]) -> None:
        self._cache = cache
        self._table = table
        self._load = load

    def read(self, key: str) -> str:
        """Return a row. It is cached unless it changed while it was loaded."""
        row, guard = names(self._table, key)
        cached = self._cache.get(row)
        if cached is not None:
            return str(cached)
        with self._cache.pipeline() as put:
            put.watch(guard)
            loaded = self._load(key)
            put.multi()
            put.set(row, loaded)
            try:
                put.execute()
            except redis.WatchError:
                return loaded
        return loaded


def names(table: str, key: str) -> tuple[str, str]:
    """Return the names of a row in the cache, and of the counter of its changes."""
    return f"{table}:{key}", f"{table}:{key}:changes"


def invalidate(cache: redis.Redis, table: str, key: str) -> None:
    """Take a row out of the cache, and keep loads that have begun from putting it back."""
    row, guard = names(table, key)
    with cache.pipeline() as taken:
        taken.incr(guard)
        taken.expire(guard, GUARD_SECONDS)
        taken.delete(row)
        taken.execute()


def key_of(change: Change) -> str:
    """Return the values of the key's columns, by colons."""
    return ":".join(str(change.row[name]) for name in change.key_columns)


def run(table: str, group: str, address: str) -> None:
    """Take changed rows out of the cache until SIGTERM."""
    host, port = address.split(":")
    logical_database, logical_table = table.split(".")
    with (
        redis.Redis(host, int(port), decode_responses=True) as cache,
        Subscription(
            logical_database, logical_table, group=group, session_timeout_seconds=6
        ) as changes,
    ):
        signal.signal(signal.SIGTERM, lambda *_: changes.stop())
        for change in changes:
            invalidate(cache, table, key_of(change))


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2], sys.argv[3])
