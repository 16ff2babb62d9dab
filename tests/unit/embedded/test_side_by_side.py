"""What two test processes say together at the end."""

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
