"""The delivery protocol keeps its invariants in every order of events; each rule is necessary."""

import pytest

from tests.model.promises import broken
from tests.model.search import search
from tests.model.world import Budget, Record, Rules, Source, World

TWO_CHANGES = Source(2, executed=2)
STANDBY_BEHIND = Source(2)

MISFORTUNES = {
    "a crash and a lost session": (TWO_CHANGES, Budget(crashes=1, expiries=1)),
    "a crash, the broker's timeout and a lost answer": (
        TWO_CHANGES,
        Budget(crashes=1, timeouts=1, lost_answers=1),
    ),
    "a lost session and a lost source": (TWO_CHANGES, Budget(expiries=1, source_errors=1)),
    "the broker's timeout twice and a lost source": (
        Source(3, executed=3),
        Budget(timeouts=2, source_errors=1),
    ),
    "the master's death and a crash": (STANDBY_BEHIND, Budget(crashes=1, master_deaths=1)),
    "the master's death, the broker's timeout and a lost answer": (
        STANDBY_BEHIND,
        Budget(timeouts=1, lost_answers=1, master_deaths=1),
    ),
}

MUTATIONS = {
    "record_in_transaction": (TWO_CHANGES, Budget(crashes=1), "the record says"),
    "producer_before_position": (TWO_CHANGES, Budget(expiries=1), "visible twice"),
    "record_after_unclear_commit": (TWO_CHANGES, Budget(timeouts=1), "the record says"),
    "fenced_asks_election": (TWO_CHANGES, Budget(expiries=1), "fences its successor"),
    "fence_counts_in_abort": (
        TWO_CHANGES,
        Budget(expiries=1, source_errors=1),
        "fences its successor",
    ),
    "late_rows_verified": (TWO_CHANGES, Budget(crashes=1), "visible twice"),
    "standby_proved": (STANDBY_BEHIND, Budget(master_deaths=1), "visible twice"),
}


@pytest.mark.parametrize("misfortune", MISFORTUNES)
def test_nothing_is_lost_or_visible_twice_or_out_of_order_whatever_happens_when(
    misfortune: str,
) -> None:
    source, budget = MISFORTUNES[misfortune]
    found = search(World(source, budget=budget), Rules())
    assert found.promise == "", "\n".join(found.way)
    assert found.furthest == source.written + budget.master_deaths, (
        "the model must be able to publish everything"
    )


@pytest.mark.parametrize("rule", MUTATIONS)
def test_without_this_rule_a_promise_breaks(rule: str) -> None:
    source, budget, promise = MUTATIONS[rule]
    found = search(World(source, budget=budget), Rules()._replace(**{rule: False}))
    assert promise in found.promise
    assert found.way
    print(f"\n{rule}: {found.promise}", *found.way, sep="\n  ")


def test_every_rule_has_its_mutation() -> None:
    assert set(MUTATIONS) == set(Rules._fields)


def test_each_broken_promise_is_told_apart() -> None:
    start = World(TWO_CHANGES)
    assert broken(start) == ""

    def shown(*visible: tuple[int, ...], record: int) -> str:
        return broken(
            start._replace(
                broker=start.broker._replace(visible=visible, position=Record(0, record))
            )
        )

    assert shown((2,), (1,), record=2) == ""
    assert "visible twice" in shown((), (1, 1), record=1)
    assert "a gap" in shown((), (3,), record=1)
    assert "the record says" in shown((), (1,), record=2)
    assert "the record says" in shown((2,), (1,), record=1)
