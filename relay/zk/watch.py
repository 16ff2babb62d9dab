"""Permanent watches. ZooKeeper's own watches fire once and end with the connection."""

from __future__ import annotations  # IAsyncResult is generic only in the stubs

import threading
from collections.abc import Callable
from typing import Literal, TypeAlias

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError
from kazoo.interfaces import IAsyncResult
from kazoo.protocol.states import EventType, WatchedEvent, ZnodeStat

WatchedThing: TypeAlias = Literal["node", "children", "children once"]
"""What is watched. A watch "once" is armed again by `Watch.renew` only."""


class Watch:
    """One listener of a path's watch; cancelling removes it completely."""

    def __init__(self, watched: WatchedPath, signal: Callable[[], None]) -> None:
        self._watched = watched
        self.signal = signal

    def cancel(self) -> None:
        """End the watch: the signal is not called any more."""
        self._watched.remove(self)

    def renew(self) -> None:
        """Arm a watch that is armed once, if it has fired. Read the children after this call."""
        self._watched.renew()


class WatchedPath:
    """Calls its listeners after every change of a node (or of the list of its children) and after
    every reconnect.

    kazoo keeps every registered callable until the path changes, so each path registers only one,
    regardless of the number of its listeners. Signals run in kazoo's threads: they may only set an
    event. A signal only means that something may have changed.
    """

    def __init__(self, client: KazooClient, path: str, of: WatchedThing) -> None:
        self._client = client
        self._path = path
        self._of = of
        self._listeners: list[Watch] = []
        self._lock = threading.Lock()
        self._has_fired = False

    def add(self, signal: Callable[[], None]) -> Watch:
        """Add a listener; this does not arm the watch."""
        watch = Watch(self, signal)
        with self._lock:
            self._listeners.append(watch)
        return watch

    def remove(self, watch: Watch) -> None:
        """Remove one watch of the path."""
        with self._lock:
            self._listeners = [each for each in self._listeners if each is not watch]

    def arm(self) -> None:
        """Request a watch for the next change.

        Never blocks. A request that is lost with the connection is repeated after the reconnect.
        """
        if self._of == "node":
            self._client.exists_async(self._path, watch=self._changed)
        else:
            self._client.get_children_async(self._path, watch=self._changed).rawlink(
                self._children_answered
            )

    def renew(self) -> None:
        """Arm the watch again if it fired and was not armed since."""
        with self._lock:
            fired, self._has_fired = self._has_fired, False
        if fired:
            self.arm()

    def arm_and_signal(self) -> None:
        """Arm the watch, then signal; do nothing without listeners.

        In this order, the new watch covers changes after the read that follows the signal, so no
        change is missed.
        """
        with self._lock:
            listeners = tuple(self._listeners)
        if listeners:
            self.arm()
        for each in listeners:
            each.signal()

    def _changed(self, event: WatchedEvent) -> None:
        if event.type == EventType.NONE:
            return  # the connection is lost; the session arms the watch after the reconnect
        if self._of != "children once":
            self.arm_and_signal()
            return
        with self._lock:
            self._has_fired, listeners = True, tuple(self._listeners)
        for each in listeners:
            each.signal()

    def _children_answered(self, answer: IAsyncResult[list[str]]) -> None:
        # Children of a missing node cannot be watched; its creation can.
        if isinstance(answer.exception, NoNodeError):
            self._client.exists_async(self._path, watch=self._changed).rawlink(
                self._parent_answered
            )

    def _parent_answered(self, answer: IAsyncResult[ZnodeStat | None]) -> None:
        # The node was created between the two requests: neither of them will report it.
        if answer.exception is None and answer.get() is not None:
            self.arm_and_signal()


class WatchedPaths:
    """The watched paths of a session. Thread-safe."""

    def __init__(self) -> None:
        self._paths: dict[tuple[str, WatchedThing], WatchedPath] = {}
        self._lock = threading.Lock()

    def of(self, client: KazooClient, path: str, of: WatchedThing) -> WatchedPath:
        """Return the one watch of a node, or of its children. This does not arm it."""
        with self._lock:
            return self._paths.setdefault((path, of), WatchedPath(client, path, of))

    def arm_and_signal(self) -> None:
        """Arm all watches after a reconnect, and signal their listeners."""
        with self._lock:
            paths = tuple(self._paths.values())
        for each in paths:
            each.arm_and_signal()
