"""Orders, view and history of the source's failover, kept in ZooKeeper."""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from relay.errors import VersionConflict
from relay.state.failover_records import (
    FailoverView,
    StandingOrders,
    SwitchNote,
    read_history,
    write_history,
)
from relay.state.paths import Paths
from relay.zk import Session
from relay.zk.watch import Watch

_TRIES = 5


@dataclass(frozen=True, slots=True)
class FailoverState:
    """What is stored of one source's failover.

    view     what the relay saw last; None: no relay ever watched its servers
    history  the switches, the newest first
    """

    view: FailoverView | None
    orders: StandingOrders
    history: tuple[SwitchNote, ...]


class FailoverStore:
    """Operators write orders, the relay that leads an instance writes view and history.

    Every change of orders is a compare-and-set.

    Those of a single source; each source of a group has its own.
    """

    def __init__(self, session: Session, paths: Paths, source: str = "") -> None:
        self._session = session
        self._paths = paths
        self._source = source

    def of_source(self, source: str) -> "FailoverStore":
        """Return the same of one source of a group; of a single one, which is called "", this."""
        return FailoverStore(self._session, self._paths, source)

    def orders(self, instance: str) -> StandingOrders:
        """Return the present orders.

        The read is synced, because a withdrawn order must not be executed.
        """
        node = self._session.find(self._paths.failover_orders(instance, self._source), synced=True)
        return StandingOrders() if node is None else StandingOrders.from_document(node.value)

    def watch_orders(self, instance: str, changed: threading.Event) -> Watch:
        """Set `changed` whenever the orders may be others."""
        return self._session.watch(self._paths.failover_orders(instance, self._source), changed.set)

    def change_orders(
        self, instance: str, change: Callable[[StandingOrders], StandingOrders]
    ) -> StandingOrders:
        """Apply a change to the present orders, also with concurrent writers.

        The number rises.

        Raises VersionConflict.
        """
        path = self._paths.failover_orders(instance, self._source)
        for _ in range(_TRIES):
            node = self._session.find(path, synced=True)
            standing = (
                StandingOrders() if node is None else StandingOrders.from_document(node.value)
            )
            changed = replace(change(standing), number=standing.number + 1)
            with suppress(VersionConflict):
                if node is None:
                    self._session.create(path, changed.to_document())
                else:
                    self._session.compare_and_set(path, changed.to_document(), node.version)
                return changed
        raise VersionConflict(f"The orders for {instance} changed {_TRIES} times meanwhile.")

    def put_view(self, instance: str, view: FailoverView) -> None:
        """Write the view unconditionally: only the leader of the instance writes it."""
        self._session.put(self._paths.failover_view(instance, self._source), view.to_document())

    def view(self, instance: str) -> FailoverView | None:
        """Return the relay's last view; None if no relay ever checked this instance's servers."""
        node = self._session.find(self._paths.failover_view(instance, self._source))
        return None if node is None else FailoverView.from_document(node.value)

    def every(self, keys: Sequence[tuple[str, str]]) -> list[FailoverState]:
        """Return view, orders and history of many sources, read together.

        keys  (instance, source) of each; the source is "" where it is the only one
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
        """Put a switch in front of the history."""
        self._session.put(
            self._paths.failover_history(instance, self._source),
            write_history((note, *self.history(instance))),
        )

    def history(self, instance: str) -> tuple[SwitchNote, ...]:
        """Return the switches, the newest first."""
        node = self._session.find(self._paths.failover_history(instance, self._source))
        return () if node is None else read_history(node.value)
