"""The operators' orders about the servers of one instance."""

from dataclasses import replace

import structlog

from relay.errors import RelayError
from relay.model.failover import ServerRole
from relay.state import FailoverStore, StandingOrders


class OrdersInForce:
    """The operators' orders about the servers of one instance.

    `standing` are the orders that were read last; while ZooKeeper is unavailable, they apply.
    """

    def __init__(
        self, instance: str, store: FailoverStore, log: structlog.stdlib.BoundLogger
    ) -> None:
        self.standing = StandingOrders()
        self._instance = instance
        self._store = store
        self._log = log

    def read(self, followed: ServerRole | None) -> ServerRole | None:
        """Read the orders from ZooKeeper; while it is unavailable, the last known orders apply.

        Returns `followed`, the server that is read now. If `followed` is None (unknown), returns
        the server that the last report in ZooKeeper names.
        """
        try:
            if followed is None and (view := self._store.view(self._instance)) is not None:
                followed = view.followed_role
            self.standing = self._store.orders(self._instance)
        except RelayError as exc:
            self._log.warning("failover_orders_not_read", reason=exc.reason)
        return followed

    def forget(self) -> None:
        """Delete the executed orders, so that the next switch does not repeat them.

        While ZooKeeper is unavailable, nothing happens; the next server check calls this again.
        """
        try:
            self.standing = self._store.change_orders(
                self._instance, lambda standing: replace(standing, switch_to=None, accepted="")
            )
        except RelayError as exc:
            self._log.warning("failover_orders_not_deleted", reason=exc.reason)
