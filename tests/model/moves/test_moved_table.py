"""Random histories of moves, restarts and slow instances: every row once, in the order of its
key; and each rule of the protocol is needed.
"""

import pytest

from tests.model.moves.moved_table import Outcome, Rules, outcome

HISTORIES = 400
_NEEDED = [each for each in Rules._fields if each != "returns_marked"]


def test_a_group_that_follows_a_table_gets_each_row_once_and_in_order() -> None:
    wrong = [seed for seed in range(HISTORIES) if outcome(Rules(), seed) is not Outcome.WHOLE]
    assert wrong == []


@pytest.mark.parametrize("rule", _NEEDED)
def test_without_a_rule_rows_are_lost_repeated_or_out_of_order(rule: str) -> None:
    rules = Rules(returns_marked=False)._replace(**{rule: False})
    assert any(outcome(rules, seed) is Outcome.WRONG for seed in range(HISTORIES))


def test_a_return_past_a_retired_instance_stops_a_group_by_name() -> None:
    found = {outcome(Rules(), seed, retired=True) for seed in range(HISTORIES)}
    assert found == {Outcome.WHOLE, Outcome.STOPPED}


def test_without_marked_returns_a_retired_instance_makes_a_group_wrong_in_silence() -> None:
    rules = Rules(returns_marked=False)
    found = {outcome(rules, seed, retired=True) for seed in range(HISTORIES)}
    assert Outcome.WRONG in found
