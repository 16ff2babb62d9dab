"""The operators' orders about the servers of one instance."""

from dataclasses import replace

import structlog

from relay.errors import RelayError
from relay.model.failover import ServerRole
from relay.state import FailoverStore, StandingOrders


class OrdersInForce:
    """The orders as ZooKeeper had them when it answered last."""

    def __init__(
        self, instance: str, store: FailoverStore, log: structlog.stdlib.BoundLogger
    ) -> None:
        self.standing = StandingOrders()
        self._instance = instance
        self._store = store
        self._log = log

    def read(self, followed: ServerRole | None) -> ServerRole | None:
        """Read the orders. While ZooKeeper is unavailable, the last known ones apply.

        Return `followed`. If it is None, return the server that the last report names.
        """
        try:
            if followed is None and (view := self._store.view(self._instance)) is not None:
                followed = view.followed_role
            self.standing = self._store.orders(self._instance)
        except RelayError as exc:
            self._log.warning("orders_not_read", reason=exc.reason)
        return followed

    def forget(self) -> None:
        """Delete executed orders, so that they are not repeated after the next switch.

        While ZooKeeper is unavailable, every heartbeat tries again.
        """
        try:
            self.standing = self._store.change_orders(
                self._instance, lambda standing: replace(standing, switch_to=None, accepted="")
            )
        except RelayError as exc:
            self._log.warning("orders_not_forgotten", reason=exc.reason)
