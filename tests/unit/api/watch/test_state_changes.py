"""The log of changes: what differs is added once, and who missed too much gets everything anew."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from api.services.watch import ChangeLog, Facts, StatePeriod
from api.services.watch.state_changes import _KEPT, REMOVED
from tests.unit.api.watch.instances import view_of as view


def facts(**states: str) -> dict[str, Facts]:
    return {
        name: Facts(view(name, state), StatePeriod(1000, state, "", "", "relay-1", exact=True))
        for name, state in states.items()
    }


def told(log: ChangeLog, number: int) -> list[tuple[str, str]] | None:
    found = log.after(number)
    return None if found is None else [(each.instance, each.state) for each in found]


def test_only_what_differs_is_a_change() -> None:
    log = ChangeLog()
    log.note(facts(a="RUNNING", b="RUNNING"), 1)
    log.note(facts(a="RUNNING", b="STOPPED"), 2)
    log.note(facts(a="RUNNING", b="STOPPED"), 3)
    assert told(log, 0) == [("a", "RUNNING"), ("b", "RUNNING"), ("b", "STOPPED")]
    assert told(log, 2) == [("b", "STOPPED")]
    assert told(log, 3) == []


def test_an_instance_that_is_gone_is_told_once_and_may_come_back() -> None:
    log = ChangeLog()
    log.note(facts(a="RUNNING"), 1)
    log.note({}, 2)
    log.note({}, 3)
    log.note(facts(a="RUNNING"), 4)
    assert told(log, 0) == [("a", "RUNNING"), ("a", REMOVED), ("a", "RUNNING")]
    assert [each.number for each in log.present()[1]] == [3]


def test_another_leader_is_a_change() -> None:
    log = ChangeLog()
    before = facts(a="RUNNING")
    log.note(before, 1)
    log.note({"a": replace(before["a"], view=view("a", relay="relay-2"))}, 2)
    found = log.after(1)
    assert found is not None
    assert [each.relay for each in found] == ["relay-2"]


def test_numbers_of_another_start_or_too_old_ones_are_refused() -> None:
    log = ChangeLog()
    for at in range(_KEPT + 5):
        log.note(facts(a="RUNNING" if at % 2 else "STOPPED"), at)
    assert told(log, 4) is None
    assert told(log, _KEPT + 99) is None
    assert len(told(log, 5) or []) == _KEPT


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.sampled_from(["RUNNING", "STOPPED"]))))
def test_the_changes_add_up_to_what_is_present(readings: list[dict[str, str]]) -> None:
    log = ChangeLog()
    for at, reading in enumerate(readings):
        log.note(facts(**reading), at)
    shown = dict(told(log, 0) or [])
    assert {name: state for name, state in shown.items() if state != REMOVED} == (
        readings[-1] if readings else {}
    )
