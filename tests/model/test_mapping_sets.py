"""No order of edits, losses of ZooKeeper, crashes and acceptances publishes a row under a mapping
that was not activated.
"""

import pytest

from tests.model.mapping_sets import HALF, NOTHING, Budget, Rules, World, search

RUNNING = (("A",), frozenset({"A"}))
EMPTY: tuple[tuple[str, ...], frozenset[str]] = ((), frozenset())

MISFORTUNES = {
    "a crash, a wipe and two saves": (RUNNING, Budget(crashes=1, wipes=1, saves=2)),
    "a crash, a wipe, a save and an acceptance": (
        RUNNING,
        Budget(crashes=1, wipes=1, saves=1, acceptances=1),
    ),
    "two crashes and two edits": (RUNNING, Budget(crashes=2, saves=2)),
    "two wipes, three saves and two acceptances": (
        RUNNING,
        Budget(wipes=2, saves=3, acceptances=2),
    ),
    "a first start, a wipe and four saves": (EMPTY, Budget(crashes=1, wipes=1, saves=4)),
}

MUTATIONS = {
    "sets_named_by_digest": (RUNNING, Budget(wipes=1, saves=1), "nobody activated"),
    "own_set_to_the_end": (RUNNING, Budget(crashes=1, saves=1), "two mappings"),
    "documents_kept": (RUNNING, Budget(crashes=1, wipes=1), "which is nowhere"),
    "documents_in_transaction": (RUNNING, Budget(crashes=1, wipes=1), "which is nowhere"),
    "documents_kept_while_named": (
        RUNNING,
        Budget(crashes=1, wipes=1, saves=1, acceptances=1),
        "which is nowhere",
    ),
    "store_compared_after_split": (RUNNING, Budget(crashes=1, saves=1), "is active"),
    "first_start_waits": (EMPTY, Budget(saves=2), "nobody activated"),
    "acceptance_bound": (RUNNING, Budget(wipes=1, saves=2, acceptances=1), "nobody activated"),
}


def world(start: tuple[tuple[str, ...], frozenset[str]], budget: Budget) -> World:
    sets, meant = start
    return World(sets, meant, budget)


@pytest.mark.parametrize("misfortune", MISFORTUNES)
def test_every_row_is_published_under_a_mapping_that_was_activated_for_it(
    misfortune: str,
) -> None:
    found = search(world(*MISFORTUNES[misfortune]), Rules())
    assert found.promise == "", "\n".join(found.way)
    assert found.furthest == 4, "the model must be able to publish everything"


@pytest.mark.parametrize("rule", MUTATIONS)
def test_without_this_rule_a_promise_breaks(rule: str) -> None:
    start, budget, promise = MUTATIONS[rule]
    found = search(world(start, budget), Rules()._replace(**{rule: False}))
    assert promise in found.promise
    print(f"\n{rule}: {found.promise}", *found.way, sep="\n  ")


def test_every_rule_has_its_mutation() -> None:
    assert set(MUTATIONS) == set(Rules._fields)


def test_the_model_tells_half_a_mapping_and_none_apart_from_a_whole_one() -> None:
    assert world(EMPTY, Budget()).current == NOTHING
    assert world((("A", HALF), frozenset()), Budget()).current == (2, HALF)
