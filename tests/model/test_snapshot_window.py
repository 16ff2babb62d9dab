"""No order of commits, SELECTs, publishing and crashes lets a chunk override a newer change.

Each rule is needed for it.
"""

import pytest

from tests.model.exploring import Found, explore
from tests.model.snapshot_window import (
    CHUNKS,
    HISTORIES,
    Rules,
    Transaction,
    World,
    broken,
    steps,
)


def _explored(history: tuple[Transaction, ...], rules: Rules) -> Found:
    return explore(
        World(history),
        lambda world: steps(world, rules),
        broken,
        lambda world: world.published + world.done,
    )


@pytest.mark.parametrize("name", HISTORIES)
def test_the_last_message_of_each_key_is_the_row_in_every_order_of_events(name: str) -> None:
    found = _explored(HISTORIES[name], Rules())
    assert (found.promise, found.way) == ("", ())
    assert found.furthest == len(HISTORIES[name]) + len(CHUNKS)
    assert found.moments > 500


_TOLD_BY = {
    "noted_when_published": "XA",
    "statements_void": "TRUNCATE",
    "rename_begins_again": "RENAME",
    "key_types_begin_again": "ALTER of the key",
    "left_out_is_no_change": "changes that a filter leaves out",
    "left_out_voids": "changes that a filter leaves out",
    "moves_begin_again": "a row that moves without a message",
    "key_is_free": "more changes than bytes",
}
"""The history that needs a rule; the first one needs the others."""


@pytest.mark.parametrize("rule", Rules._fields)
def test_each_rule_is_needed(rule: str) -> None:
    rules = Rules()._replace(**{rule: False})
    history = HISTORIES[_TOLD_BY.get(rule, next(iter(HISTORIES)))]
    assert _explored(history, rules).promise, f"the model does not need {rule}"
