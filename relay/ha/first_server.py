"""Decides which server an instance without a position reads, without input or output."""

from collections.abc import Iterable

from relay.ha.source_decision import SwitchRules
from relay.model.failover import FailoverOrders, ServerRole, ServerSeen


def first_server(
    servers: Iterable[ServerSeen], orders: FailoverOrders, rules: SwitchRules
) -> ServerRole:
    """Return the server at which an instance without a position begins.

    Call it only if the standby has its own start settings. If an operator ordered a switch to a
    server, the result is that server. Otherwise it is the standby if `rules.automatic` is set, the
    master is dead by its failed heartbeats, the standby answers, and no operator holds the
    instance. In all other cases it is the master. No proof is necessary, because nothing was
    published yet.
    """
    seen = {each.role: each for each in servers}
    master, standby = seen[ServerRole.MASTER], seen[ServerRole.STANDBY]
    if orders.switch_to is not None:
        return orders.switch_to
    dead = not master.answers and master.failures >= rules.retry_threshold
    if dead and standby.answers and rules.automatic and not orders.hold:
        return ServerRole.STANDBY
    return ServerRole.MASTER
