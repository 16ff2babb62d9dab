"""Which server an instance reads that has no position. Pure."""

from collections.abc import Iterable

from relay.ha.source_decision import SwitchRules
from relay.model.failover import FailoverOrders, ServerRole, ServerSeen


def first_server(
    servers: Iterable[ServerSeen], orders: FailoverOrders, rules: SwitchRules
) -> ServerRole:
    """Return the server to start at, where the standby has start settings of its own.

    The standby: by an operator's order, or if it answers, the master failed the number of
    heartbeats that make it dead, `rules.automatic` is on and no operator holds the instance.
    Otherwise the master. Nothing was published yet, so nothing has to be proven.
    """
    seen = {each.role: each for each in servers}
    master, standby = seen[ServerRole.MASTER], seen[ServerRole.STANDBY]
    if orders.switch_to is not None:
        return orders.switch_to
    dead = not master.answers and master.failures >= rules.retry_threshold
    if dead and standby.answers and rules.automatic and not orders.hold:
        return ServerRole.STANDBY
    return ServerRole.MASTER
