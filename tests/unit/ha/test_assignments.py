"""When a relay may take an instance, and when a leader lets go."""

from functools import partial

import pytest

from relay.ha import Assignment, AssignmentTable, Why
from relay.ha.assignments import UNCLAIMED_SECONDS, AssignmentAge, gives_way, may_take

ME, OTHER = "me", "other"
PATIENCE_SECONDS = 10.0


@pytest.mark.parametrize(
    ("assignment", "stood_s", "may"),
    [
        (Assignment(None, ME, Why.FREE), 0, True),
        (Assignment(OTHER, ME, Why.MOVED), 0, True),
        (Assignment(ME, OTHER, Why.MOVED), 0, True),
        (Assignment(None, OTHER, Why.FREE), 0, False),
        (Assignment(None, OTHER, Why.FREE), UNCLAIMED_SECONDS - 0.1, False),
        (Assignment(None, OTHER, Why.FREE), UNCLAIMED_SECONDS, True),
        (Assignment(OTHER, OTHER, Why.STAYS), 1000, False),
    ],
)
def test_who_may_take(assignment: Assignment, stood_s: float, may: bool) -> None:
    assert may_take(AssignmentAge(assignment, 100.0), ME, 100.0 + stood_s) is may


@pytest.mark.parametrize(
    ("assignment", "stood_s", "gives"),
    [
        (Assignment(ME, ME, Why.STAYS), 1000, False),
        (Assignment(ME, OTHER, Why.MOVED), 0, True),
        (Assignment(ME, OTHER, Why.DRAINED), 0, True),
        (Assignment(ME, OTHER, Why.PREFERRED), PATIENCE_SECONDS - 0.1, False),
        (Assignment(ME, OTHER, Why.PREFERRED), PATIENCE_SECONDS, True),
        (Assignment(ME, OTHER, Why.BALANCE), PATIENCE_SECONDS - 0.1, False),
        (Assignment(ME, OTHER, Why.BALANCE), PATIENCE_SECONDS, True),
        (Assignment(OTHER, ME, Why.MOVED), 1000, False),
        (Assignment(None, OTHER, Why.FREE), 1000, False),
    ],
)
def test_who_gives_way(assignment: Assignment, stood_s: float, gives: bool) -> None:
    assert (
        gives_way(AssignmentAge(assignment, 100.0), ME, 100.0 + stood_s, PATIENCE_SECONDS) is gives
    )


def test_a_wish_that_comes_and_goes_has_not_stood() -> None:
    assignments = AssignmentTable(ME, rebalance_seconds=0.0)
    woken: list[int] = []
    assignments.on_change("shop", lambda: woken.append(1))
    assert assignments.gives_way("shop") is None
    assignments.renew({"shop": Assignment(ME, OTHER, Why.BALANCE)})
    assert assignments.gives_way("shop") == Assignment(ME, OTHER, Why.BALANCE)
    patient = AssignmentTable(ME, rebalance_seconds=1000.0)
    patient.renew({"shop": Assignment(ME, OTHER, Why.BALANCE)})
    assert patient.gives_way("shop") is None
    patient.renew({"shop": Assignment(ME, OTHER, Why.DRAINED)})
    assert patient.gives_way("shop") == Assignment(ME, OTHER, Why.DRAINED)
    assignments.renew({})
    assert assignments.gives_way("shop") is None
    assert len(woken) == 2


def test_who_took_an_instance_back_does_not_offer_it_again_soon() -> None:
    assignments = AssignmentTable(ME, rebalance_seconds=0.0)
    assignments.renew({"shop": Assignment(None, OTHER, Why.FREE)})
    assignments.taken("shop", assignments.assignment("shop"))
    assignments.renew({"shop": Assignment(ME, OTHER, Why.BALANCE)})
    assert assignments.gives_way("shop") is None
    assignments.renew({"shop": Assignment(ME, OTHER, Why.MOVED)})
    assert assignments.gives_way("shop") is not None


def test_a_plan_that_changes_during_the_attempt_starts_no_cool_down() -> None:
    assignments = AssignmentTable(ME, rebalance_seconds=0.0)
    tried_by = Assignment(None, ME, Why.FREE)
    assignments.renew({"shop": tried_by})
    assignments.renew({"shop": Assignment(None, OTHER, Why.FREE)})
    assignments.taken("shop", tried_by)
    assignments.renew({"shop": Assignment(ME, OTHER, Why.BALANCE)})
    assert assignments.gives_way("shop") is not None


def test_a_plan_wakes_only_the_instances_that_it_affects() -> None:
    assignments = AssignmentTable(ME, rebalance_seconds=0.0)
    woken: list[str] = []
    for name in ("shop", "crm", "free"):
        assignments.on_change(name, partial(woken.append, name))
    plan = {
        "shop": Assignment(ME, ME, Why.STAYS),
        "crm": Assignment(OTHER, OTHER, Why.STAYS),
        "free": Assignment(None, OTHER, Why.FREE),
    }
    assignments.renew(plan)
    assert sorted(woken) == ["crm", "free", "shop"]
    woken.clear()
    assignments.renew(plan)
    assert woken == ["free"], "any relay may take it after some time"
    woken.clear()
    assignments.renew({"crm": Assignment(OTHER, ME, Why.MOVED)})
    assert sorted(woken) == ["crm", "free", "shop"], "the others left the plan"


def test_a_forgotten_signal_is_not_called() -> None:
    assignments = AssignmentTable(ME, rebalance_seconds=0.0)
    woken: list[int] = []
    signals = [partial(woken.append, number) for number in (1, 2)]
    for signal in signals:
        assignments.on_change("shop", signal)
    assignments.forget("shop", signals[0])
    assignments.renew({"shop": Assignment(None, ME, Why.FREE)})
    assert woken == [2]
    assignments.forget("shop", signals[1])
    assignments.renew({})
    assert woken == [2]
