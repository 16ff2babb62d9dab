"""Stores the orders, the view and the history of a source's failover in ZooKeeper."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from relay.state.failover_records import (
    FailoverView,
    StandingOrders,
    SwitchNote,
    read_history,
    write_history,
)
from relay.state.paths import Paths
from relay.zk import Node, Session, update_node
from relay.zk.watch import Watch


@dataclass(frozen=True, slots=True)
class FailoverState:
    """The stored records of one source's failover.

    view     the last view of the relay; None: no relay has polled the servers
    history  the switches, the newest first
    """

    view: FailoverView | None
    orders: StandingOrders
    history: tuple[SwitchNote, ...]


class FailoverStore:
    """Stores the failover documents of instances. Operators write orders; the relay that leads an
    instance writes view and history.

    This object is for a single source; `of_source` returns the store of one source of a group.
    Orders are changed only if nobody else changed them since they were read (compare-and-set).
    """

    def __init__(self, session: Session, paths: Paths, source: str = "") -> None:
        self._session = session
        self._paths = paths
        self._source = source

    def of_source(self, source: str) -> "FailoverStore":
        """Return the store for one source of a group; "" is the single source of an instance."""
        return FailoverStore(self._session, self._paths, source)

    def orders(self, instance: str) -> StandingOrders:
        """Return the present orders.

        The read is synced, because a withdrawn order must not be executed.
        """
        node = self._session.find(self._paths.failover_orders(instance, self._source), synced=True)
        return StandingOrders() if node is None else StandingOrders.from_document(node.value)

    def watch_orders(self, instance: str, changed: threading.Event) -> Watch:
        """Set `changed` whenever the orders may have changed, until the returned watch is
        cancelled.
        """
        return self._session.watch(self._paths.failover_orders(instance, self._source), changed.set)

    def change_orders(
        self, instance: str, change: Callable[[StandingOrders], StandingOrders]
    ) -> StandingOrders:
        """Apply `change` to the present orders, and return the new orders, whose number is one
        higher.

        If another writer was faster, `change` is applied again. Raises VersionConflict or
        NodeMissing after many attempts, StoreUnreachable.
        """

        def changed(node: Node | None) -> tuple[StandingOrders, bytes]:
            before = StandingOrders() if node is None else StandingOrders.from_document(node.value)
            after = replace(change(before), number=before.number + 1)
            return after, after.to_document()

        path = self._paths.failover_orders(instance, self._source)
        return update_node(self._session, path, changed)

    def put_view(self, instance: str, view: FailoverView) -> None:
        """Write the view without comparing versions, because only the leader of the instance writes
        it.
        """
        self._session.put(self._paths.failover_view(instance, self._source), view.to_document())

    def view(self, instance: str) -> FailoverView | None:
        """Return the relay's last view; None if no relay has polled this instance's servers."""
        node = self._session.find(self._paths.failover_view(instance, self._source))
        return None if node is None else FailoverView.from_document(node.value)

    def every(self, keys: Sequence[tuple[str, str]]) -> list[FailoverState]:
        """Return view, orders and history of many sources, which are read together.

        `keys` are (instance, source) of each; the source is "" for a single source.
        """
        paths = self._paths
        views = self._session.find_all([paths.failover_view(*key) for key in keys])
        orders = self._session.find_all([paths.failover_orders(*key) for key in keys], synced=True)
        histories = self._session.find_all([paths.failover_history(*key) for key in keys])
        return [
            FailoverState(
                None if view is None else FailoverView.from_document(view.value),
                StandingOrders() if order is None else StandingOrders.from_document(order.value),
                () if history is None else read_history(history.value),
            )
            for view, order, history in zip(views, orders, histories, strict=True)
        ]

    def note_switch(self, instance: str, note: SwitchNote) -> None:
        """Add a switch to the front of the history."""
        self._session.put(
            self._paths.failover_history(instance, self._source),
            write_history((note, *self.history(instance))),
        )

    def history(self, instance: str) -> tuple[SwitchNote, ...]:
        """Return the switches, the newest first."""
        node = self._session.find(self._paths.failover_history(instance, self._source))
        return () if node is None else read_history(node.value)
