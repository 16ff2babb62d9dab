"""What two test processes are given, and what they say together at the end."""

from types import SimpleNamespace

import pytest

from tests.servers import availability, side_by_side


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(availability, "_found", {"mysql": "mysql 9.7.4"})
    monkeypatch.setattr(availability, "_missing", {})
    monkeypatch.setattr(side_by_side, "_of_others", set())


def test_the_report_joins_what_every_process_found_with_what_is_missing_last() -> None:
    handed_over = {"servers": ["WARNING: hbase WAS NOT TESTED: no Java", "mysql: mysql 9.7.4", "zookeeper: 3.9.3"]}
    side_by_side.take_report(SimpleNamespace(workeroutput=handed_over))
    side_by_side.take_report(SimpleNamespace())  # died before its last words
    assert side_by_side.report() == ["mysql: mysql 9.7.4", "zookeeper: 3.9.3", "WARNING: hbase WAS NOT TESTED: no Java"]


def test_a_process_of_several_hands_over_its_report_and_a_single_one_nothing() -> None:
    several, single = SimpleNamespace(workeroutput={}), SimpleNamespace()
    side_by_side.pass_on_report(several)
    side_by_side.pass_on_report(single)
    assert several.workeroutput == {"servers": ["mysql: mysql 9.7.4"]}
    assert vars(single) == {}


def test_sparks_files_are_one_piece_of_work_and_the_first() -> None:
    spark, other = (f"tests/{folder}/test_{{}}.py::test_x[a::b]" for folder in ("integration/spark", "e2e"))
    pieces = [side_by_side.piece_of_work(each.format(name)) for each in (spark, other) for name in "ab"]
    assert pieces == ["tests/integration/spark/"] * 2 + ["tests/e2e/test_a.py", "tests/e2e/test_b.py"]
    items = [SimpleNamespace(nodeid=each.format(name)) for name in "ab" for each in (other, spark)]
    assert [item.nodeid for item in side_by_side.largest_first(items)] == [each.format(name) for each in (spark, other) for name in "ab"]  # type: ignore[arg-type]
