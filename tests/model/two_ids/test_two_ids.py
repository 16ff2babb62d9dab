"""Two transactional ids by turns lose, repeat and reorder nothing, and each rule is needed."""

from collections.abc import Iterator

import pytest

from tests.model.exploring import Found, explore
from tests.model.two_ids import broker, relay
from tests.model.two_ids.world import CHANGES, Relay, Rules, World, broken

TWO_AND_TWO = World((Relay(2), Relay(2)))
TWO_AND_ONE = World((Relay(2), Relay(1)))
TIMEOUT = World((Relay(2),), timeouts=1)

MUTATIONS = {
    "both_before_read": TWO_AND_TWO,
    "first_id_proves": TWO_AND_TWO,
    "acknowledged_first": TIMEOUT,
    "commits_in_order": TIMEOUT,
    "failure_stops": TIMEOUT,
    "record_names_second": TWO_AND_ONE,
    "reads_again": TWO_AND_ONE,
}


def _search(start: World, rules: Rules) -> Found:
    def following(world: World) -> Iterator[tuple[str, World]]:
        yield from broker.steps(world)
        for request, after, answer in broker.arrivals(world):
            told = after
            if answer:
                epoch = after.ids[request.id].epoch
                told = after.with_relay(
                    request.relay,
                    relay.told(after.relays[request.relay], request, answer, epoch, rules),
                )
            yield f"{request} arrives: {answer or 'not yet'}", told
        for number in range(len(world.relays)):
            for label, after in relay.steps(world, number, rules):
                yield f"relay {number} {label}", after

    return explore(start, following, broken, _shown)


def _shown(world: World) -> int:
    return sum(each.committed for log in world.logs[:2] for each in log)


@pytest.mark.parametrize("start", [TWO_AND_TWO, TWO_AND_ONE, TIMEOUT])
def test_nothing_is_lost_or_visible_twice_or_out_of_order(start: World) -> None:
    found = _search(start, Rules())
    assert found.promise == "", "\n".join(found.way)
    assert found.furthest == CHANGES


@pytest.mark.parametrize("rule", MUTATIONS)
def test_without_this_rule_a_promise_breaks(rule: str) -> None:
    found = _search(MUTATIONS[rule], Rules()._replace(**{rule: False}))
    assert found.promise
    print(f"\n{rule}: {found.promise}", *found.way, sep="\n  ")


def test_every_rule_has_its_mutation() -> None:
    assert set(MUTATIONS) == set(Rules._fields)
