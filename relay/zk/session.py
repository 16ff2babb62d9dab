"""The process's one session with ZooKeeper."""

from collections.abc import Callable, Sequence
from typing import Final

from kazoo.security import OPEN_ACL_UNSAFE

from relay.deadline import Deadline
from relay.errors import NodeMissing, StoreUnreachable
from relay.settings import ZooKeeperSettings
from relay.zk.batched_requests import commit_steps, node_of, replaced_nodes
from relay.zk.client import Client, SessionState
from relay.zk.errors import raise_failure, translated
from relay.zk.login import identity_of, rights_of
from relay.zk.node import ANY_VERSION, Check, Children, Create, Node, Step
from relay.zk.requests import Requests
from relay.zk.watch import Watch, WatchedPaths, WatchedThing

_PROBE: Final = "never-made"
_NO_VERSION: Final = 2**30


class Session:
    """Reads and writes nodes. Each call ends within `answer_seconds`, or raises StoreUnreachable.

    Any thread may use it except kazoo's own thread, which calls the functions of watches. If the
    connection drops, a read is repeated until `answer_seconds` have passed. A write is not
    repeated, because the first attempt may have succeeded. The parameter `synced` has in every
    method the meaning that `get` describes. `state`, `sessions` and `id` may be read
    at any time. kazoo reports LOST only when it reaches a server again: during a long silence the
    state is SUSPENDED, and `silent_s` grows.
    """

    def __init__(
        self,
        settings: ZooKeeperSettings,
        *,
        answer_seconds: float | None = None,
        on_session: Callable[[int, bytes], None] | None = None,
    ) -> None:
        """Prepare the session without connecting.

        `on_session` is called for each new session, with its id and password, and must not wait.
        Raises ConfigurationError if `zookeeper.hosts` cannot be read.
        """
        self.hosts = settings.hosts
        self._watched = WatchedPaths()
        self._client = Client(settings, self._watched.arm_and_signal)
        self._client.on_session = on_session
        self._kazoo = self._client.kazoo
        self._requests = Requests(
            self._client,
            settings.session_timeout_seconds if answer_seconds is None else answer_seconds,
        )
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
        """The silence in milliseconds after which the servers end the session, as they granted it;
        0 before the first connection.
        """
        return self._client.timeout_ms

    @property
    def silent_s(self) -> float:
        """Seconds since the connection was lost, 0 while connected."""
        return self._client.silent_s

    def unreachable(self) -> StoreUnreachable:
        """Return the error that explains why there is no connection: no answer, a refused login, or
        TLS.
        """
        return self._client.unreachable()

    # Life.

    def start(self, deadline: Deadline) -> None:
        """Connect. Raises StoreUnreachable at the deadline; attempts then continue in the
        background until `stop`.

        Repeated calls are allowed.
        """
        with translated(self.hosts):
            self._client.start()
        self._requests.await_connection(deadline)

    def stop(self) -> None:
        """End the session. Its ephemeral nodes are deleted immediately. Repeated calls do
        nothing.
        """
        with translated(self.hosts):
            self._client.stop()

    # Reads.

    def get(self, path: str, *, synced: bool = False) -> Node:
        """Read a node. Raises NodeMissing.

        `synced`: the result includes all changes before the call, whichever server answers.
        """
        value, stat = self._requests.read(path, lambda: self._kazoo.get_async(path), synced)
        return node_of(value, stat)

    def find(self, path: str, *, synced: bool = False) -> Node | None:
        """Return a node, None if it is missing."""
        try:
            return self.get(path, synced=synced)
        except NodeMissing:
            return None

    def find_all(
        self, paths: Sequence[str], *, synced: bool = False, large: bool = False
    ) -> list[Node | None]:
        """Read many nodes that may be missing, in the order of their paths.

        The nodes are not read at one moment: another writer may change one while the next is read.
        `large`: values may be near the limit of a node, so each has a separate answer.
        """
        found = self._requests.read_nodes(paths, synced, large=large)
        return [None if each is None else node_of(*each) for each in found]

    def changes(self, paths: Sequence[str]) -> list[int | None]:
        """Return the number of the last change of each node, None for a missing one.

        Numbers rise with each change of any node, also if a node is deleted and created again.
        """
        found = self._requests.read_all(paths, self._kazoo.exists_async, synced=False)
        return [None if each is None else each.mzxid for each in found]

    def exists(self, path: str, *, synced: bool = False) -> bool:
        """Return whether the node exists."""
        return self._requests.read(path, lambda: self._kazoo.exists_async(path), synced) is not None

    def children(self, path: str, *, synced: bool = False) -> tuple[str, ...]:
        """Return the names of a node's children, sorted. Raises NodeMissing."""
        names = self._requests.read(path, lambda: self._kazoo.get_children_async(path), synced)
        return tuple(sorted(names))

    def children_state(self, path: str) -> Children | None:
        """Return a value that changes whenever a child is created or deleted; None for a missing
        node.
        """
        stat = self._requests.read(path, lambda: self._kazoo.exists_async(path), synced=False)
        return None if stat is None else Children(stat.pzxid, stat.cversion, stat.numChildren)

    def owns(self, path: str) -> bool:
        """Return by a synced read whether the node is an ephemeral one of the present session."""
        owner = self._requests.read(path, lambda: self._kazoo.exists_async(path), synced=True)
        return (
            owner is not None
            and owner.ephemeralOwner != 0
            and owner.ephemeralOwner == self._client.id
        )

    # Writes.

    def ensure(self, path: str) -> None:
        """Create a node and those above it where they are missing; the values stay empty."""
        self._requests.read(path, lambda: self._kazoo.ensure_path_async(path), synced=False)

    def create(self, path: str, value: bytes) -> None:
        """Create a node and its missing parents. Raises VersionConflict if it exists."""
        self._requests.ask(path, lambda: self._kazoo.create_async(path, value, makepath=True))

    def create_ephemeral(self, path: str, value: bytes) -> None:
        """Create a node that ends with the session.

        Raises VersionConflict if it exists, whoever owns it.
        """
        self._requests.ask(
            path, lambda: self._kazoo.create_async(path, value, ephemeral=True, makepath=True)
        )

    def create_ephemeral_sequential(self, prefix: str, value: bytes) -> str:
        """Create an ephemeral node, and return its path: `prefix` and a number that rises.

        After StoreUnreachable the node may exist nevertheless: search the children of its parent
        for one that this session owns.
        """
        return self._requests.ask(
            prefix,
            lambda: self._kazoo.create_async(
                prefix, value, ephemeral=True, sequence=True, makepath=True
            ),
        )

    def compare_and_set(self, path: str, value: bytes, version: int) -> int:
        """Replace the value if the node still has `version`; return the new version.

        Raises VersionConflict, NodeMissing.
        """
        return self._requests.ask(path, lambda: self._kazoo.set_async(path, value, version)).version

    def put(self, path: str, value: bytes) -> None:
        """Write the value, whether the node exists or not; the last writer wins.

        Raises VersionConflict only if two writers create the missing node at the same time.
        """
        try:
            self.compare_and_set(path, value, ANY_VERSION)
        except NodeMissing:
            self.create(path, value)

    def delete(self, path: str, version: int = ANY_VERSION) -> None:
        """Delete a node without children. Raises VersionConflict, NodeMissing."""
        self._requests.ask(path, lambda: self._kazoo.delete_async(path, version))

    def commit(self, steps: Sequence[Step]) -> list[Node]:
        """Execute all steps or none, in one ZooKeeper transaction; return the replaced nodes.

        Raises the error of the first failed step.
        """
        answers = self._requests.ask(
            ", ".join(step.path for step in steps), lambda: commit_steps(self._kazoo, steps)
        )
        raise_failure([step.path for step in steps], answers)
        return replaced_nodes(steps, answers)

    def check_writable(self, path: str) -> None:
        """Check that nodes may be created at `path` and below, without creating one.

        Raises StoreRefused, StoreUnreachable.
        """
        above = path
        while above and not self.exists(above):
            above = above.rpartition("/")[0]
        probe = f"{above}/{_PROBE}"
        # ZooKeeper executes all steps or none, and the second step always fails.
        steps = (Create(probe, b""), Check(probe, _NO_VERSION))
        made, _ = self._requests.ask(path, lambda: commit_steps(self._kazoo, steps))
        raise_failure([path], [made])

    # Access rights.

    def rights(self, path: str) -> tuple[str, ...]:
        """Return who has all rights on a node, as "SCHEME:NAME". "world:anyone" is everybody.

        Raises NodeMissing.
        """
        found, _ = self._requests.read(path, lambda: self._kazoo.get_acls_async(path), synced=False)
        return tuple(
            sorted(identity for each in found if (identity := identity_of(each)) is not None)
        )

    def protect(self, path: str) -> None:
        """Give a node the rights that new nodes get. Raises NodeMissing, StoreNotPermitted."""
        self._requests.ask(path, lambda: self._kazoo.set_acls_async(path, self._rights))

    # Watches.

    def watch(self, path: str, signal: Callable[[], None]) -> Watch:
        """Call `signal` whenever the node may have been created, changed or deleted, across
        reconnects and new sessions.

        Read the node after this call and after every signal: changes after such a read are
        signalled. There may be one signal for several changes.
        """
        return self._watch(path, "node", signal)

    def watch_children(self, path: str, signal: Callable[[], None], *, once: bool = False) -> Watch:
        """Call `signal` when a child may have been created or deleted; otherwise like `watch`.

        `once`: only until `Watch.renew`. Each arming transfers the names of all children.
        """
        return self._watch(path, "children once" if once else "children", signal)

    def _watch(self, path: str, of: WatchedThing, signal: Callable[[], None]) -> Watch:
        watched = self._watched.of(self._kazoo, path, of)
        watch = watched.add(signal)
        if self.connected:
            watched.arm()
        return watch
