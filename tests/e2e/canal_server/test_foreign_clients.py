"""Unchanged clients of Canal run their usual loop against the Canal server."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.canal_server.conftest import Served
from tests.support.clients.canal.java_client import java_command, run

_CLIENTS = Path(__file__).parents[2] / "support" / "clients" / "canal"
_GO = shutil.which("go", path=f"{os.environ.get('PATH', '')}:/usr/local/go/bin")
ROWS = 6
USER, PASSWORD = "canal", "pass wörd"


def changed(served: Served) -> None:
    """Make six changes: four inserts, an update and a delete."""
    served.insert(1, 2, 3)
    served.shop.execute("update {t} set v = 'new' where id = 2", "delete from {t} where id = 3")
    served.insert(9)


def check(output: str, table: str) -> None:
    """Each row is there once, in order for each key."""
    found = [line for line in output.splitlines() if table in line]
    by_key: dict[str, list[str]] = {}
    for line in found:
        kind, _, key, *rest = line.split()
        by_key.setdefault(key, []).append(" ".join((kind, *rest)))
    assert by_key == {
        "id=1": ["INSERT n=1 v=v1"],
        "id=2": ["INSERT n=2 v=v2", "UPDATE n=2 v=new"],
        "id=3": ["INSERT n=3 v=v3", "DELETE n=3 v=v3"],
        "id=9": ["INSERT n=9 v=v9"],
    }


def test_the_java_client_gets_each_row_once_in_order(serve: Callable[..., Any]) -> None:
    with serve(user=USER, password=PASSWORD) as served:
        changed(served)
        loop = ("example", USER, PASSWORD, f"{served.shop.name}\\..*", ROWS)
        check(run(java_command("CanalLoop.java", *served.address, *loop)), served.table)


@pytest.mark.long
def test_the_python_client_gets_each_row_once_in_order(served: Served) -> None:
    changed(served)
    host, port = served.address
    program = [sys.executable, str(_CLIENTS / "canal_python_loop.py")]
    loop = [host, str(port), "example", f"{served.shop.name}\\..*", str(ROWS)]
    environment = {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"}
    check(run([*program, *loop], environment=environment), served.table)


@pytest.mark.long
@pytest.mark.timeout(400)
def test_the_go_client_gets_each_row_once_in_order(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    if _GO is None:
        pytest.skip("no Go, which the client is compiled with")
    program = str(tmp_path / "loop")
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly"}
    build = [_GO, "build", "-o", program, "."]
    subprocess.run(build, cwd=_CLIENTS / "go", env=environment, check=True, timeout=240)
    with serve(user=USER, password=PASSWORD) as served:
        changed(served)
        host, port = served.address
        loop = [host, str(port), "example", USER, PASSWORD, f"{served.shop.name}\\..*", str(ROWS)]
        check(run([program, *loop]), served.table)
