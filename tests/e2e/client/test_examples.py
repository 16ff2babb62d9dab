"""The examples of the Python client, run as they are."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import redis

from deploy.embedded.packaged import Postgres, Redis
from examples.cache_invalidation import ReadThrough, invalidate
from tests.e2e.client.conftest import Shop
from tests.support.relays.admin_server import TOKEN
from tests.support.waiting import wait_until

EXAMPLES = Path(__file__).parents[3] / "examples"
IN_THE_VIEW = "select state, orders, amount from orders_by_state order by state"
IN_THE_SOURCE = "select v, count(*), sum(n) from t group by v order by v"


def test_a_materialised_view_is_exact_after_a_kill(
    shop: Shop, postgres: Postgres, tmp_path: Path
) -> None:
    view = f"{shop.name}_view"
    with psycopg.connect(postgres.conninfo(), autocommit=True) as server:
        server.execute(f'create database "{view}"'.encode())
    view = postgres.conninfo(view)
    arguments = ["materialised_view.py", f"{shop.name}.t", f"{shop.name}-view", view]
    shop.execute(*(f"insert into {{t}} values ({key}, {key * 10}, 'open')" for key in range(30)))
    with _running(shop, arguments, tmp_path) as killed:
        wait_until(lambda: _viewed(view) != [], "the first row of the view")
        killed.kill()
        killed.wait(20)
    shop.execute(
        "update {t} set v = 'paid', n = n + 1 where id < 20",
        "delete from {t} where id in (3, 25)",
    )
    with _running(shop, arguments, tmp_path):
        wait_until(lambda: _viewed(view) == _summed(shop), "the view to be that of the source")


def test_a_cache_has_no_row_that_changed_also_after_a_kill(
    shop: Shop, redis_server: Redis, tmp_path: Path
) -> None:
    arguments = ["cache_invalidation.py", f"{shop.name}.t", f"{shop.name}-cache"]
    arguments.append(redis_server.address)
    shop.execute(*(f"insert into {{t}} values ({key}, {key}, 'old')" for key in range(20)))
    with redis.Redis(port=redis_server.port, decode_responses=True) as cache:
        rows = ReadThrough(cache, f"{shop.name}.t", lambda key: _row(shop, key))
        assert _all_read(rows, "old")
        with _running(shop, arguments, tmp_path) as killed:
            shop.execute("update {t} set v = 'new' where id < 10")
            wait_until(lambda: rows.read("0") == "new", "the first row to be read again")
            killed.kill()
            killed.wait(20)
        shop.execute("update {t} set v = 'new' where id >= 10")
        with _running(shop, arguments, tmp_path):
            wait_until(lambda: _all_read(rows, "new"), "every row to be read again")


def test_a_row_that_was_loaded_before_its_change_is_not_put_into_the_cache(
    redis_server: Redis,
) -> None:
    with redis.Redis(port=redis_server.port, decode_responses=True) as cache:

        def load(key: str) -> str:
            invalidate(cache, "race.t", key)
            return "old"

        assert ReadThrough(cache, "race.t", load).read("7") == "old"
        assert ReadThrough(cache, "race.t", lambda _: "new").read("7") == "new"


@contextmanager
def _running(shop: Shop, arguments: list[str], folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    with (folder / "example.log").open("ab") as log:
        child = subprocess.Popen(
            [sys.executable, EXAMPLES / arguments[0], *arguments[1:]],
            env={**os.environ, "ROMA_ADMIN": shop.admin, "ROMA_TOKEN": TOKEN},
            stdout=log,
            stderr=log,
        )
    try:
        yield child
    finally:
        child.kill()
        child.wait(20)


def _viewed(view: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(view) as connection:
        if connection.execute("select to_regclass('orders_by_state')").fetchone() == (None,):
            return []
        return connection.execute(IN_THE_VIEW).fetchall()


def _summed(shop: Shop) -> list[tuple[Any, ...]]:
    with shop.mariadb.connect() as connection, connection.cursor() as cursor:
        connection.select_db(shop.name)
        cursor.execute(IN_THE_SOURCE)
        return [(state, int(n), int(amount)) for state, n, amount in cursor.fetchall()]


def _row(shop: Shop, key: str) -> str:
    with shop.mariadb.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"select v from {shop.name}.t where id = %s", (key,))
        return str((cursor.fetchone() or ("",))[0])


def _all_read(rows: ReadThrough, state: str) -> bool:
    return all(rows.read(str(key)) == state for key in range(20))
