"""The running relay processes, and the instances that each of them leads: ephemeral nodes."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from urllib.parse import unquote

from relay.errors import NodeMissing
from relay.state.json_object import JsonObject, write_json
from relay.state.paths import Paths
from relay.zk import Session, Watch


@dataclass(frozen=True, slots=True)
class RunnableInstance:
    """One instance that a relay can run: the servers that the instance's settings prefer, and the
    error that prevents the relay from leading it now (empty: none).
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
    """A relay process; `status_url` is the address of its status server, empty without one.

    `started_ms` is Unix milliseconds.

    `server` is the name that outlives the process. `session_timeout_ms` is the granted timeout:
    after this time without a heartbeat the relay counts as gone; 0: unknown.

    `program` is the name of the process whose worker it is, and `worker` its number there; "" and 0
    if it is none.
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
    """Registers relays and lists them, and the leaders of instances."""

    def __init__(self, session: Session, paths: Paths) -> None:
        self._session = session
        self._paths = paths

    def announce(self, member: RelayMember) -> None:
        """Create or update the member's node in the present session.

        Call it again after every new session. A node of an earlier session is replaced, so only one
        process may use the name.
        """
        path, value = self._paths.relay(member.name), member.to_document()
        node = self._session.find(path, synced=True)
        if node is not None and node.ephemeral_owner == self._session.id:
            if node.value != value:
                self._session.put(path, value)
            return
        with suppress(NodeMissing):  # the usual case: the earlier session's node has gone with it
            self._session.delete(path)
        self._session.create_ephemeral(path, value)

    def withdraw(self, name: str) -> None:
        """Delete a member's node before the relay ends, so that it is assigned no more
        instances.
        """
        with suppress(NodeMissing):
            self._session.delete(self._paths.relay(name))

    def members(self) -> tuple[RelayMember, ...]:
        """Return the running relays, sorted by name."""
        return tuple(
            RelayMember.from_document(name, value)
            for name, value in self._below(self._paths.relays).items()
        )

    def leaders(self) -> Mapping[str, str]:
        """Return instance → name of the relay that leads it."""
        return {
            name: JsonObject.read(value).text("relay")
            for name, value in self._below(self._paths.leaders).items()
        }

    def watch(self, signal: Callable[[], None]) -> tuple[Watch, ...]:
        """Call `signal` whenever a relay may have started or ended, or a leader changed."""
        return tuple(
            self._session.watch_children(path, signal)
            for path in (self._paths.relays, self._paths.leaders)
        )

    def _below(self, path: str) -> dict[str, bytes]:
        try:
            names = self._session.children(path)
        except NodeMissing:
            return {}
        nodes = self._session.find_all([f"{path}/{name}" for name in names])
        return {
            unquote(name): node.value
            for name, node in zip(names, nodes, strict=True)
            if node is not None
        }
