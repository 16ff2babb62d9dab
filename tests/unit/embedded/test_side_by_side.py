"""What two test processes are given, and what they say together at the end."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.servers import availability, side_by_side


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(availability, "_found", {"mysql": "mysql 9.7.4"})
    monkeypatch.setattr(availability, "_missing", {})
    monkeypatch.setattr(side_by_side, "_of_others", set())


def test_the_report_joins_what_every_process_found_with_what_is_missing_last() -> None:
    handed_over = {
        "servers": [
            "WARNING: hbase WAS NOT TESTED: no Java",
            "mysql: mysql 9.7.4",
            "zookeeper: 3.9.3",
        ]
    }
    side_by_side.take_report(SimpleNamespace(workeroutput=handed_over))
    side_by_side.take_report(SimpleNamespace())  # died before its last words
    assert side_by_side.report() == [
        "mysql: mysql 9.7.4",
        "zookeeper: 3.9.3",
        "WARNING: hbase WAS NOT TESTED: no Java",
    ]


def test_a_process_of_several_hands_over_its_report_and_a_single_one_nothing() -> None:
    several, single = SimpleNamespace(workeroutput={}), SimpleNamespace()
    side_by_side.pass_on_report(several)
    side_by_side.pass_on_report(single)
    assert several.workeroutput == {"servers": ["mysql: mysql 9.7.4"]}
    assert vars(single) == {}


def _names(*folders: str) -> list[str]:
    return [f"tests/{folder}/test_{name}.py::test_x[a::b]" for folder in folders for name in "ab"]


def test_files_that_share_a_costly_set_up_are_one_piece_of_work() -> None:
    spark = "integration/spark"
    names = _names(f"{spark}/first_copies", f"{spark}/stream", f"{spark}/sinks", f"{spark}/x")
    pieces = [side_by_side.piece_of_work(name) for name in names]
    assert pieces == ["first copies and streams of Spark"] * 4 + ["tests/integration/spark/"] * 4
    of_folders = _names("e2e/formats", "e2e/pages")
    pieces = ["tests/e2e/formats/"] * 2 + ["tests/e2e/pages/"] * 2
    assert [side_by_side.piece_of_work(name) for name in of_folders] == pieces
    assert side_by_side.piece_of_work(_names("e2e")[0]) == "tests/e2e/test_a.py"


def test_large_pieces_come_first_and_files_that_wait_beside_files_that_compute() -> None:
    names = _names("e2e", "e2e/pages", "integration/api", "integration/spark/stream", "unit")
    items: list[Any] = [SimpleNamespace(nodeid=name) for name in names]
    ordered = [item.nodeid for item in side_by_side.evenly_mixed(items)]
    first, last = (
        [f"tests/{folder}/test_{name}.py::test_x[a::b]" for folder in ("e2e", "integration/api")]
        + [f"tests/unit/test_{name}.py::test_x[a::b]"]
        for name in "ab"
    )
    large = _names("integration/spark/stream", "e2e/pages")
    assert ordered[:4] == large
    assert (sorted(ordered[4:7]), sorted(ordered[7:])) == (first, last)
    assert [item.nodeid for item in side_by_side.evenly_mixed(reversed(items))][4:] == ordered[4:]


_REPOSITORY = Path(__file__).parents[3]
_HOOK = """
from tests.servers.side_by_side import FewSparks

def pytest_xdist_make_scheduler(config, log):
    return FewSparks(config, log)
"""
_FILE = """
import os, signal

def test_before(): pass

def test_that_may_kill():
    if {number} in {killers}:
        os.kill(os.getpid(), signal.SIGKILL)

def test_behind(): pass
"""


@pytest.mark.slow
@pytest.mark.parametrize("killers", [(2,), (1, 2, 3, 6)])
def test_a_killed_process_loses_the_test_that_it_ran_and_no_other(
    tmp_path: Path, killers: tuple[int, ...]
) -> None:
    (tmp_path / "conftest.py").write_text(_HOOK)
    for number in range(1, 7):
        text = _FILE.format(number=number, killers=killers)
        (tmp_path / f"test_{number}.py").write_text(text)
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "xdist", "-n", "3", "--dist", "loadfile"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(_REPOSITORY), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    told = ended.stdout + ended.stderr
    assert ended.returncode == 1, told
    failed = {int(each) for each in re.findall(r"FAILED .*test_(\d)\.py::test_that_may", told)}
    assert failed == set(killers), told
    assert f"{len(killers)} failed, {18 - len(killers)} passed" in told
