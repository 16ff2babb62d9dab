"""The running relay processes, and the instances that each of them leads: ephemeral nodes."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass

from relay.errors import NodeMissing
from relay.state.json_object import JsonObject, write_json
from relay.state.members.cached_children import CachedChildren
from relay.state.paths import Paths
from relay.zk import Session, Watch


@dataclass(frozen=True, slots=True)
class RunnableInstance:
    """One instance that a relay can run.

    `preferred` are the servers that its settings prefer. `code` is the error that prevents the
    relay from leading it now, and `reason` its text; both are "" without such an error.
    """

    instance: str
    preferred: tuple[str, ...] = ()
    code: str = ""
    reason: str = ""

    @classmethod
    def read(cls, fields: JsonObject) -> "RunnableInstance":
        """Read one runnable instance of a relay; missing fields are empty."""
        return cls(
            fields.text("instance"),
            fields.texts("preferred"),
            fields.text("code"),
            fields.text("reason"),
        )


@dataclass(frozen=True, slots=True)
class RelayMember:
    """A running relay process.

    name                the name of the process
    server              the name of its server, which outlives the process
    status_url          the address of its status server, "" without one
    started_ms          when it started, in Unix milliseconds
    session_timeout_ms  after how long without a heartbeat ZooKeeper counts it as gone; 0: unknown
    candidacies         the instances that it can run
    program, worker     the process whose worker it is, and its number there; "" and 0 if it is none
    """

    name: str
    host: str = ""
    pid: int = 0
    status_url: str = ""
    instances: tuple[str, ...] = ()
    started_ms: int = 0
    server: str = ""
    session_timeout_ms: int = 0
    candidacies: tuple[RunnableInstance, ...] = ()
    program: str = ""
    worker: int = 0

    def to_document(self) -> bytes:
        """Return the JSON document of the relay's ephemeral node."""
        return write_json(asdict(self))

    @classmethod
    def from_document(cls, name: str, value: bytes) -> "RelayMember":
        """Read the node of this name; fields of other versions may be missing."""
        fields = JsonObject.read(value)
        return cls(
            name=name,
            host=fields.text("host"),
            pid=fields.whole("pid"),
            status_url=fields.text("status_url"),
            instances=fields.texts("instances"),
            started_ms=fields.whole("started_ms"),
            server=fields.text("server"),
            session_timeout_ms=fields.whole("session_timeout_ms"),
            candidacies=tuple(
                RunnableInstance.read(each) for each in fields.objects("candidacies")
            ),
            program=fields.text("program"),
            worker=fields.whole("worker"),
        )


class Membership:
    """Registers relays, and lists the relays and the leaders of instances.

    Any thread may call it, except `announce` and `withdraw`.
    """

    def __init__(self, session: Session, paths: Paths) -> None:
        self._session = session
        self._paths = paths
        self._members = CachedChildren(
            session, paths.relays, RelayMember.from_document, fixed=False
        )
        self._leaders = CachedChildren(session, paths.leaders, _leader, fixed=True)
        self._announced: _Announced | None = None

    def announce(self, member: RelayMember) -> None:
        """Create or update the relay's node in the present session.

        Call it again after every new session. A node of an earlier session is replaced, so only one
        process may use the name.
        """
        path, session_id = self._paths.relay(member.name), self._session.id
        (change,) = self._session.changes([path])
        now = _Announced(member, session_id, change)
        if change is not None and now == self._announced:
            return
        self._write(path, member.to_document())
        (change,) = self._session.changes([path])
        self._announced = _Announced(member, session_id, change)

    def _write(self, path: str, value: bytes) -> None:
        node = self._session.find(path, synced=True)
        if node is not None and node.ephemeral_owner == self._session.id:
            if node.value != value:
                self._session.put(path, value)
            return
        # usually ZooKeeper has already deleted it with the earlier session
        with suppress(NodeMissing):
            self._session.delete(path)
        self._session.create_ephemeral(path, value)

    def withdraw(self, name: str) -> None:
        """Delete a relay's node before the relay ends, so that no more instances are assigned to
        it.
        """
        with suppress(NodeMissing):
            self._session.delete(self._paths.relay(name))

    def members(self) -> tuple[RelayMember, ...]:
        """Return the running relays, sorted by name."""
        return tuple(self._members.values().values())

    def leaders(self) -> Mapping[str, str]:
        """Return instance → name of the relay that leads it; the same object as long as nothing
        changed.
        """
        return self._leaders.values()

    def watch(self, signal: Callable[[], None]) -> tuple[Watch, ...]:
        """Call `signal` once when a relay may have started or ended, or a leader may have changed.

        Renew the returned watches before the next read. Many changes then cost only one read of the
        names.
        """
        return tuple(
            self._session.watch_children(path, signal, once=True)
            for path in (self._paths.relays, self._paths.leaders)
        )


@dataclass(frozen=True, slots=True)
class _Announced:
    """A member as it was written, in which session, and the number of the node's change."""

    member: RelayMember
    session_id: int | None
    change: int | None


def _leader(_instance: str, value: bytes) -> str:
    return JsonObject.read(value).text("relay")
