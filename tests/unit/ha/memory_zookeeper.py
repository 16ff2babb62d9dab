"""Sessions of one ZooKeeper in memory: what an Election needs of it, and how a session is lost."""

from collections.abc import Callable
from typing import Any

from relay.errors import NodeMissing, StoreUnreachable, VersionConflict
from relay.zk import Node, SessionState

Owner = tuple["MemorySession", int]


class MemoryZooKeeper:
    """Ephemeral nodes, each with the session that owns it."""

    def __init__(self) -> None:
        self.nodes: dict[str, tuple[Owner, bytes]] = {}

    def drop(self, session: "MemorySession") -> None:
        """End the server's side of a session: its ephemeral nodes go."""
        owner = session.owner
        self.nodes = {path: node for path, node in self.nodes.items() if node[0] != owner}


class MemorySession:
    """A client's session. `expire`, `cut` and `drop` of the server are how it can be lost."""

    timeout_ms = 10_000
    silent_s = 0.0

    def __init__(self, server: MemoryZooKeeper) -> None:
        self._server = server
        self.sessions = 1
        self.state = SessionState.CONNECTED
        self.watches = 0

    @property
    def owner(self) -> Owner:
        return self, self.sessions

    @property
    def connected(self) -> bool:
        return self.state is SessionState.CONNECTED

    def expire(self) -> None:
        """The server ended the session, and the client has a new one."""
        self._server.drop(self)
        self.sessions += 1
        self.state = SessionState.CONNECTED

    def cut(self) -> None:
        """The connection is lost; the client does not see what becomes of the session."""
        self.state = SessionState.SUSPENDED

    def unreachable(self) -> StoreUnreachable:
        return StoreUnreachable("ZooKeeper does not answer.")

    def owns(self, path: str) -> bool:
        node = self._node(path)
        return node is not None and node[0] == self.owner

    def exists(self, path: str, *, synced: bool = False) -> bool:
        assert synced, "an election must not believe an old answer"
        return self._node(path) is not None

    def find(self, path: str, *, synced: bool = False) -> Node | None:
        assert synced, "an election must not believe an old answer"
        node = self._node(path)
        return (
            None if node is None else Node(node[1], version=0, ephemeral_owner=None, modified_ms=0)
        )

    def create_ephemeral(self, path: str, value: bytes) -> None:
        if self._node(path) is not None:
            raise VersionConflict(path)
        self._server.nodes[path] = self.owner, value

    def delete(self, path: str) -> None:
        if self._node(path) is None:
            raise NodeMissing(path)
        del self._server.nodes[path]

    def watch(self, path: str, signal: Callable[[], None]) -> Any:  # noqa: ARG002 - tests look by themselves
        self.watches += 1
        return _Watch()

    def _node(self, path: str) -> tuple[Owner, bytes] | None:
        if not self.connected:
            raise self.unreachable()
        return self._server.nodes.get(path)


class _Watch:
    def cancel(self) -> None: ...
