"""Which server an instance without a position starts at, case by case."""

from dataclasses import replace

import pytest

from relay.ha import SwitchRules, first_server
from relay.model.failover import FailoverOrders, ServerRole, ServerSeen

RULES = SwitchRules(retry_threshold=3, automatic=True)
NONE = FailoverOrders()
UP = ServerSeen(ServerRole.MASTER, "one:3306", answers=True)
DEAD = replace(UP, answers=False, failures=3)
FAILED_TWICE = replace(UP, answers=False, failures=2)
REFUSES = replace(UP, answers=False, failures=0, error="Access denied")
STANDBY = ServerSeen(ServerRole.STANDBY, "two:3306", answers=True)
AWAY = replace(STANDBY, answers=False, failures=9)


@pytest.mark.parametrize(
    ("master", "standby", "orders", "rules", "found"),
    [
        (UP, STANDBY, NONE, RULES, "master"),
        (DEAD, STANDBY, NONE, RULES, "standby"),
        (DEAD, AWAY, NONE, RULES, "master"),
        (FAILED_TWICE, STANDBY, NONE, RULES, "master"),
        (REFUSES, STANDBY, NONE, RULES, "master"),
        (DEAD, STANDBY, NONE, replace(RULES, automatic=False), "master"),
        (DEAD, STANDBY, FailoverOrders(hold=True), RULES, "master"),
        (UP, STANDBY, FailoverOrders(switch_to=ServerRole.STANDBY), RULES, "standby"),
        (DEAD, STANDBY, FailoverOrders(switch_to=ServerRole.MASTER), RULES, "master"),
    ],
)
def test_the_standby_is_chosen_for_a_dead_master_or_by_order(
    master: ServerSeen, standby: ServerSeen, orders: FailoverOrders, rules: SwitchRules, found: str
) -> None:
    assert first_server((master, standby), orders, rules) == ServerRole(found)
