"""Standing watches: ZooKeeper's fire once and die with the connection, these do neither."""

from __future__ import annotations  # IAsyncResult takes its type parameter in the stubs alone

from collections.abc import Callable
from typing import Literal

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError
from kazoo.interfaces import IAsyncResult
from kazoo.protocol.states import EventType, WatchedEvent, ZnodeStat


class Watch:
    """Calls `signal` after every change of a node (or of the list of its children) and after every reconnect, until cancelled.

    `signal` runs in kazoo's thread: it may set an event and nothing more. It says that something may have changed, not what.
    """

    def __init__(self, client: KazooClient, path: str, signal: Callable[[], None], of: Literal["node", "children"]) -> None:
        self.path = path
        self._client = client
        self._signal = signal
        self._of = of
        self.cancelled = False

    def arm(self) -> None:
        """Ask for the next change. Never blocks; a request lost with the connection is made again after the reconnect."""
        if self._of == "node":
            self._client.exists_async(self.path, watch=self._changed)
        else:
            self._client.get_children_async(self.path, watch=self._changed).rawlink(self._children_answered)

    def reconnected(self) -> None:
        """Arm again and signal, because changes during the absence went unseen."""
        if not self.cancelled:
            self.arm()
            self._signal()

    def cancel(self) -> None:
        """Signal no more."""
        self.cancelled = True

    def _changed(self, event: WatchedEvent) -> None:
        if self.cancelled or event.type == EventType.NONE:  # NONE: the connection is gone, and `reconnected` will follow
            return
        # Armed before the signal: whoever reads after the signal reads behind the new watch, so no change falls between.
        self.arm()
        self._signal()

    def _children_answered(self, answer: IAsyncResult[list[str]]) -> None:
        # Children of a missing node cannot be watched; its creation can.
        if isinstance(answer.exception, NoNodeError) and not self.cancelled:
            self._client.exists_async(self.path, watch=self._changed).rawlink(self._parent_answered)

    def _parent_answered(self, answer: IAsyncResult[ZnodeStat | None]) -> None:
        # Created between the two requests: neither of them will report it.
        if answer.exception is None and answer.get() is not None and not self.cancelled:
            self.arm()
            self._signal()
