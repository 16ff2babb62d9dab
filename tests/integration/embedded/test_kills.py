"""kill -9 of a program with embedded changes: nothing is lost, and only what was not acknowledged
comes again.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from deploy.embedded import SqlServer
from tests.integration.embedded.conftest import Shop
from tests.support.clients.embedded_process import Line, lines, run
from tests.support.waiting import wait_until

DEATHS = [(1, "change"), (5, "change"), (6, "ack"), (7, "change"), (2, "change")]
"""Inside the first transaction, before and after an acknowledgement, inside a batch."""
TURNS = 2
EXAMPLE = Path(__file__).parents[3] / "examples" / "embedded_copy.py"


@pytest.mark.parametrize("server", ["mariadb", "mysql_9"])
def test_killed_programs_lose_nothing_and_repeat_only_what_was_not_acknowledged(
    server: str,
    request: pytest.FixtureRequest,
    make_shop: Callable[[SqlServer], Shop],
    tmp_path: Path,
) -> None:
    shop = make_shop(request.getfixturevalue(server))
    _load(shop)
    log = tmp_path / "log"
    program = {**shop.options, "tables": shop.tables, "log": str(log), "ends_with": "end"}
    for dies_at, moment in DEATHS:
        killed = run({**program, "dies_at": dies_at, "moment": moment, "every": 3}, shop.source)
        assert killed == signal.SIGKILL
    assert run({**program, "dies_at": 0, "moment": "", "every": 3}, shop.source) == 0
    found = lines(log)
    whole = tmp_path / "whole"
    once = {**program, "log": str(whole), "position": str(tmp_path / "other")}
    assert run({**once, "dies_at": 0, "moment": "", "every": 1000}, shop.source) == 0
    assert _by_order(found) == _by_order(lines(whole))
    _check_repeats(found)


def _load(shop: Shop) -> None:
    shop.execute(
        "insert into t values (1, 'a', 1), (2, 'b', 2), (3, 'c', 3), (4, 'd', 4), (5, 'e', 5)",
        "begin",
        "update t set n = n + 1",
        "update t set id = id + 100 where id < 3",
        "delete from t where id = 4",
        "commit",
        "alter table t add column extra int first",
        *(f"insert into t values (null, {key}, 'row', {key})" for key in range(200, 230)),
        "delete from t where id between 210 and 220",
        "insert into t values (7, 999, 'end', 0)",
    )


def _by_order(found: list[Line]) -> dict[int, str]:
    """Return the changes by their execute position; repeats must be equal."""
    changes: dict[int, str] = {}
    for each in found:
        if each.event == "change":
            assert changes.setdefault(each.position, each.text) == each.text
    return changes


def _check_repeats(found: list[Line]) -> None:
    """Check that each program begins directly after the last acknowledged change, and that its
    order keys rise.
    """
    order = sorted(_by_order(found))
    acked = 0
    last = 0
    for each in found:
        match each.event:
            case "start":
                last = acked
            case "ack":
                acked = each.position
            case _:
                assert each.position == next(at for at in order if at > last)
                last = each.position


@pytest.mark.parametrize("new", ["new_mariadb", pytest.param("new_mysql", marks=pytest.mark.long)])
def test_the_example_counts_each_change_once_through_kills(
    new: str,
    request: pytest.FixtureRequest,
    make_shop: Callable[[SqlServer], Shop],
    tmp_path: Path,
) -> None:
    """The example begins with the oldest change of the binlog, so the server is the test's own."""
    shop = make_shop(request.getfixturevalue(new)())
    copy = tmp_path / "copy.db"
    for turn in range(TURNS):
        with _started(shop, copy, tmp_path) as program:
            base = turn * 100
            rows = ", ".join(f"({base + key}, 'row', {key})" for key in range(50))
            shop.execute(f"insert into t values {rows}", "update t set n = n + 1")
            _wait(program, partial(_has_copied, copy, base), "a change of this turn in the copy")
    with _started(shop, copy, tmp_path) as program:
        shop.execute("delete from t where id % 2 = 1", "insert into t values (1, 'end', 0)")
        _wait(program, lambda: _row(copy, shop, 1) is not None, "the last change in the copy")
        program.terminate()
        assert program.wait(60) == 0
    assert _counts(copy) == _expected()


@contextmanager
def _started(
    shop: Shop, copy: Path, folder: Path
) -> "Generator[subprocess.Popen[bytes], None, None]":
    """Yield the running example; kill -9 at the end if it still runs."""
    server = shop.server
    source = {
        "host": server.host,
        "port": server.port,
        "user": server.relay,
        "password": server.relay,
    }
    log = folder / "example.log"
    with log.open("ab") as file:
        program = subprocess.Popen(
            [sys.executable, EXAMPLE, json.dumps(source), f"{shop.name}.t", copy],
            env={**os.environ, "PYTHONPATH": str(EXAMPLE.parents[1])},
            stdout=file,
            stderr=file,
        )
    try:
        yield program
    except AssertionError as exc:
        raise AssertionError(f"{exc}: {log.read_text(encoding='utf-8')}") from exc
    finally:
        program.kill()
        program.wait(20)


def _wait(program: "subprocess.Popen[bytes]", holds: Callable[[], bool], what: str) -> None:
    wait_until(lambda: holds() or program.poll() is not None, what)
    assert program.poll() is None, f"the example ended with {program.returncode}"


def _expected() -> dict[int, int]:
    """Return how many changes each row has had: its INSERT, the UPDATEs since, and the end."""
    counts = {}
    for turn in range(TURNS):
        for key in range(50):
            row = turn * 100 + key
            counts[row] = 1 + (TURNS - turn) + (row % 2)
    counts[1] += 1
    return counts


def _has_copied(copy: Path, base: int) -> bool:
    found = _asked(copy, "select max(cast(json_extract(key, '$[1]') as integer)) from copied")
    return bool(found) and int(found[0][0] or 0) > base


def _row(copy: Path, shop: Shop, key: int) -> str | None:
    found = _asked(copy, f'select row from copied where key = \'["{shop.name}.t","{key}"]\'')
    return found[0][0] if found and "end" in (found[0][0] or "") else None


def _counts(copy: Path) -> dict[int, int]:
    rows = _asked(copy, "select json_extract(key, '$[1]'), changes from copied")
    return {int(key): changes for key, changes in rows}


def _asked(copy: Path, sql: str) -> list[tuple[Any, ...]]:
    try:
        with sqlite3.connect(copy) as connection:
            return connection.execute(sql).fetchall()
    except sqlite3.OperationalError:
        return []
