"""No order of reading, writing, crashes and switches shows a row that the source rolled back.

Each rule is needed for it.
"""

import pytest

from tests.model.exploring import explore
from tests.model.split_transactions import Rules, World, broken, steps


def test_consumers_read_what_the_source_kept_in_every_order_of_events() -> None:
    found = explore(
        World(), lambda world: steps(world, Rules()), broken, lambda world: len(world.visible)
    )
    assert (found.promise, found.way) == ("", ())
    assert found.moments > 500


@pytest.mark.parametrize("rule", Rules._fields)
def test_each_rule_is_needed(rule: str) -> None:
    rules = Rules()._replace(**{rule: False})
    found = explore(
        World(), lambda world: steps(world, rules), broken, lambda world: len(world.visible)
    )
    assert found.promise, f"the model does not need {rule}"
