"""The process's one session with ZooKeeper."""

from __future__ import annotations  # IAsyncResult takes its type parameter in the stubs alone

import threading
from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeAlias, TypeVar

from kazoo.interfaces import IAsyncResult
from kazoo.protocol.states import ZnodeStat
from kazoo.security import OPEN_ACL_UNSAFE

from relay.deadline import Deadline
from relay.errors import NodeMissing, StoreUnreachable
from relay.settings import ZooKeeperSettings
from relay.zk.client import Client, SessionState
from relay.zk.errors import raise_failure, translated
from relay.zk.login import identity_of, rights_of
from relay.zk.node import ANY_VERSION, Check, Create, Delete, Node, Replace, Step
from relay.zk.watch import Watch, WatchedPath

T = TypeVar("T")
_Of: TypeAlias = Literal["node", "children"]

# A connected server that refuses for the moment (throttled, read-only, session moving) is not asked
# in a tight loop.
_READ_AGAIN_SECONDS: Final = 0.05
_PROBE: Final = "never-made"
_NO_VERSION: Final = 2**30


class Session:
    """Reads and writes nodes, each call within `answer_seconds` or StoreUnreachable.

    Safe to use from any thread but kazoo's own, that is, not from inside a watch's signal. Reads
    are repeated within the time when the connection drops; writes are not, because the first may
    have been carried out. `state`, `sessions` and `id` may be read at any time; kazoo reports LOST
    only when it reaches a server again, so a long silence shows as SUSPENDED with a growing
    `silent_s`.
    """

    def __init__(
        self,
        settings: ZooKeeperSettings,
        *,
        answer_seconds: float | None = None,
        on_session: Callable[[int, bytes], None] | None = None,
    ) -> None:
        """Make ready; nothing is connected yet.

        `on_session` is called for each new session, with its id and password, and must not wait.

        Raises ConfigurationError if `zookeeper.hosts` cannot be read.
        """
        self.hosts = settings.hosts
        self._answer_seconds = (
            settings.session_timeout_seconds if answer_seconds is None else answer_seconds
        )
        self._watched: dict[tuple[str, _Of], WatchedPath] = {}
        self._watched_lock = threading.Lock()
        self._client = Client(settings, self._signal_watches)
        self._client.on_session = on_session
        self._kazoo = self._client.kazoo
        self._rights = rights_of(settings) or OPEN_ACL_UNSAFE

    # The state, as kazoo's listener last set it.

    @property
    def state(self) -> SessionState:
        """Return the state of the session as the client last reported it."""
        return self._client.state

    @property
    def connected(self) -> bool:
        """Return True if the session is connected, as the client last reported it."""
        return self._client.state is SessionState.CONNECTED

    @property
    def sessions(self) -> int:
        """How many sessions there have been.

        A higher number than before means that all ephemeral nodes are gone.
        """
        return self._client.sessions

    @property
    def id(self) -> int | None:
        """The session's id, which ephemeral nodes carry as their owner.

        None before the first connection.
        """
        return self._client.id

    @property
    def timeout_ms(self) -> int:
        """After how long a silence the servers end the session, as they granted it.

        0 before the first connection.
        """
        return self._client.timeout_ms

    @property
    def silent_s(self) -> float:
        """Seconds since the connection was lost, 0 while connected."""
        return self._client.silent_s

    def unreachable(self) -> StoreUnreachable:
        """Return the error that says why there is no connection: no answer, a refused login, or
        TLS.
        """
        return self._client.unreachable()

    # Life.

    def start(self, deadline: Deadline) -> None:
        """Connect.

        Raises StoreUnreachable at the deadline and goes on trying in the background, until `stop`;
        it may be called again.
        """
        with translated(self.hosts):
            self._client.start()
        self._await_connection(deadline)

    def stop(self) -> None:
        """End the session; its ephemeral nodes vanish at once. Harmless when repeated."""
        with translated(self.hosts):
            self._client.stop()

    # Reads.

    def get(self, path: str, *, synced: bool = False) -> Node:
        """Read a node; `synced`: not older than the moment of the call, whichever server answers.

        Raises NodeMissing.
        """
        value, stat = self._read(path, lambda: self._kazoo.get_async(path), synced)
        return _node(value, stat)

    def find(self, path: str, *, synced: bool = False) -> Node | None:
        """Read a node that may be missing."""
        try:
            return self.get(path, synced=synced)
        except NodeMissing:
            return None

    def exists(self, path: str, *, synced: bool = False) -> bool:
        """Say whether the node is there."""
        return self._read(path, lambda: self._kazoo.exists_async(path), synced) is not None

    def children(self, path: str, *, synced: bool = False) -> tuple[str, ...]:
        """Return the names of a node's children, sorted. Raises NodeMissing."""
        names = self._read(path, lambda: self._kazoo.get_children_async(path), synced)
        return tuple(sorted(names))

    def owns(self, path: str) -> bool:
        """Say by a synced read whether the node is an ephemeral one of the present session."""
        owner = self._read(path, lambda: self._kazoo.exists_async(path), synced=True)
        return (
            owner is not None
            and owner.ephemeralOwner != 0
            and owner.ephemeralOwner == self._client.id
        )

    # Writes.

    def ensure(self, path: str) -> None:
        """Create a node and those above it where they are missing; the values stay empty."""
        self._read(path, lambda: self._kazoo.ensure_path_async(path), synced=False)

    def create(self, path: str, value: bytes) -> None:
        """Create a node and those above it. Raises VersionConflict if it is there."""
        self._ask(path, lambda: self._kazoo.create_async(path, value, makepath=True))

    def create_ephemeral(self, path: str, value: bytes) -> None:
        """Create a node that ends with the session.

        Raises VersionConflict if it is there, whoever owns it.
        """
        self._ask(
            path, lambda: self._kazoo.create_async(path, value, ephemeral=True, makepath=True)
        )

    def create_ephemeral_sequential(self, prefix: str, value: bytes) -> str:
        """Create an ephemeral node under `prefix` and a ten-digit number that rises with every
        call; return its path.

        After StoreUnreachable it may exist nonetheless: look through the siblings for one that this
        session owns.
        """
        return self._ask(
            prefix,
            lambda: self._kazoo.create_async(
                prefix, value, ephemeral=True, sequence=True, makepath=True
            ),
        )

    def compare_and_set(self, path: str, value: bytes, version: int) -> int:
        """Replace the value if the node still has `version`; return the new version.

        Raises VersionConflict, NodeMissing.
        """
        return self._ask(path, lambda: self._kazoo.set_async(path, value, version)).version

    def put(self, path: str, value: bytes) -> None:
        """Write the value, whether the node is there or not; the last writer wins.

        Raises VersionConflict only when two create the missing node at the same moment.
        """
        try:
            self.compare_and_set(path, value, ANY_VERSION)
        except NodeMissing:
            self.create(path, value)

    def delete(self, path: str, version: int = ANY_VERSION) -> None:
        """Delete a node without children. Raises VersionConflict, NodeMissing."""
        self._ask(path, lambda: self._kazoo.delete_async(path, version))

    def commit(self, steps: Sequence[Step]) -> None:
        """Carry out all steps or none, in one ZooKeeper transaction.

        Raises what the first failed step would.
        """
        answers = self._ask(", ".join(step.path for step in steps), lambda: self._send(steps))
        raise_failure([step.path for step in steps], answers)

    def check_writable(self, path: str) -> None:
        """Ask whether nodes may be made at `path` and below, and make none.

        Raises StoreRefused, StoreUnreachable.
        """
        above = path
        while above and not self.exists(above):
            above = above.rpartition("/")[0]
        probe = f"{above}/{_PROBE}"
        # Carried out as a whole or not at all, and the second step always fails.
        steps = (Create(probe, b""), Check(probe, _NO_VERSION))
        made, _ = self._ask(path, lambda: self._send(steps))
        raise_failure([path], [made])

    # Access rights.

    def rights(self, path: str) -> tuple[str, ...]:
        """Return who may do everything with a node, as "SCHEME:NAME".

        "world:anyone" stands for everybody. Raises NodeMissing.
        """
        found, _ = self._read(path, lambda: self._kazoo.get_acls_async(path), synced=False)
        return tuple(
            sorted(identity for each in found if (identity := identity_of(each)) is not None)
        )

    def protect(self, path: str) -> None:
        """Give a node the rights that new nodes get. Raises NodeMissing, StoreNotPermitted."""
        self._ask(path, lambda: self._kazoo.set_acls_async(path, self._rights))

    # Watches.

    def watch(self, path: str, signal: Callable[[], None]) -> Watch:
        """Call `signal` whenever the node may have been created, changed or deleted, across
        reconnects and new sessions.

        Read the node after this call and after every signal: what changes after such a read is
        signalled, several changes perhaps once.
        """
        return self._watch(path, "node", signal)

    def watch_children(self, path: str, signal: Callable[[], None]) -> Watch:
        """Call `signal` whenever a child may have come or gone; otherwise as `watch`."""
        return self._watch(path, "children", signal)

    def _watch(self, path: str, of: _Of, signal: Callable[[], None]) -> Watch:
        with self._watched_lock:
            watched = self._watched.setdefault((path, of), WatchedPath(self._kazoo, path, of))
        watch = watched.add(signal)
        if self.connected:
            watched.arm()
        return watch

    def _send(self, steps: Sequence[Step]) -> IAsyncResult[list[object]]:
        request = self._kazoo.transaction()
        for step in steps:
            if isinstance(step, Create):
                request.create(step.path, step.value)
            elif isinstance(step, Replace):
                request.set_data(step.path, step.value, step.version)
            elif isinstance(step, Delete):
                request.delete(step.path, step.version)
            else:
                request.check(step.path, step.version)
        return request.commit_async()

    def _read(self, path: str, send: Callable[[], IAsyncResult[T]], synced: bool) -> T:
        deadline = Deadline.after(self._answer_seconds)
        while True:
            try:
                return self._ask(
                    path, (lambda: self._after_sync(path, send)) if synced else send, deadline
                )
            except StoreUnreachable:
                if deadline.passed:
                    raise
                self._client.stopped.wait(min(_READ_AGAIN_SECONDS, deadline.remaining_s))

    def _after_sync(self, path: str, send: Callable[[], IAsyncResult[T]]) -> IAsyncResult[T]:
        # Both leave on one connection, in order, without waiting in between: a reconnect between
        # them fails both.
        self._kazoo.sync_async(path)
        return send()

    def _ask(
        self, path: str, send: Callable[[], IAsyncResult[T]], deadline: Deadline | None = None
    ) -> T:
        deadline = deadline or Deadline.after(self._answer_seconds)
        self._await_connection(deadline)
        with translated(path):
            answer = send().get(timeout=deadline.remaining_s)
        self._client.answered()
        return answer

    def _await_connection(self, deadline: Deadline) -> None:
        if not self._client.connected.wait(deadline.remaining_s):
            raise self._client.unreachable()

    def _signal_watches(self) -> None:
        with self._watched_lock:
            watched = tuple(self._watched.values())
        for each in watched:
            each.arm_and_signal()


def _node(value: bytes, stat: ZnodeStat) -> Node:
    return Node(
        value=value,
        version=stat.version,
        ephemeral_owner=stat.ephemeralOwner or None,
        modified_ms=stat.mtime,
    )
