"""What two test processes are given, and what they say together at the end."""

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


def test_files_that_share_a_costly_set_up_are_one_piece_of_work_and_sparks_are_first() -> None:
    folders = (
        "integration/spark/first_copies",
        "integration/spark/sinks",
        "integration/spark/stream",
        "e2e/formats",
        "e2e",
    )
    names = [f"tests/{folder}/test_{name}.py::test_x[a::b]" for folder in folders for name in "ab"]
    pieces = [side_by_side.piece_of_work(name) for name in names]
    of_spark = ["tests/integration/spark/first_copies/"] * 2 + ["tests/integration/spark/"] * 4
    formats = ["tests/e2e/formats/"] * 2
    assert pieces == [*of_spark, *formats, "tests/e2e/test_a.py", "tests/e2e/test_b.py"]
    items: list[Any] = [SimpleNamespace(nodeid=name) for name in reversed(names)]
    ordered = [item.nodeid for item in side_by_side.largest_first(items)]
    assert ordered == [*reversed(names[:6]), *reversed(names[6:])]
