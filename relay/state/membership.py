"""Which relay processes live, and what each of them leads: ephemeral nodes."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from urllib.parse import unquote

from relay.errors import NodeMissing
from relay.state.json_object import JsonObject, write_json
from relay.state.paths import Paths
from relay.zk import Session, Watch


@dataclass(frozen=True, slots=True)
class Candidacy:
    """That a relay may run an instance: the servers that its settings prefer, and why it could not
    take over now (empty: it could).
    """

    instance: str
    preferred: tuple[str, ...] = ()
    code: str = ""
    reason: str = ""

    @classmethod
    def read(cls, fields: JsonObject) -> "Candidacy":
        """Read one candidacy of a relay; missing fields are empty."""
        return cls(
            fields.text("instance"),
            fields.texts("preferred"),
            fields.text("code"),
            fields.text("reason"),
        )


@dataclass(frozen=True, slots=True)
class RelayMember:
    """A relay process; `status_url` is where it answers, empty where it does not.

    `started_ms` is Unix milliseconds.

    `server` is the name that outlives the process. `session_timeout_ms` is what ZooKeeper granted:
    after so long a silence the relay counts as gone; 0: not known.
    """

    name: str
    host: str = ""
    pid: int = 0
    status_url: str = ""
    instances: tuple[str, ...] = ()
    started_ms: int = 0
    server: str = ""
    session_timeout_ms: int = 0
    candidacies: tuple[Candidacy, ...] = ()

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
            candidacies=tuple(Candidacy.read(each) for each in fields.objects("candidacies")),
        )


class Membership:
    """Announces relays and lists them, and who leads what."""

    def __init__(self, session: Session, paths: Paths) -> None:
        self._session = session
        self._paths = paths

    def announce(self, member: RelayMember) -> None:
        """Make sure that the member's node is there, up to date, and the present session's.

        Call it again after every new session.

        A node that an earlier session left behind is replaced, so the name must belong to one
        process alone.
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
        """Take a member's node away: it is about to end, and nothing is to be given to it any
        more.
        """
        with suppress(NodeMissing):
            self._session.delete(self._paths.relay(name))

    def members(self) -> tuple[RelayMember, ...]:
        """Return the relays that live, sorted by name."""
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
        """Call `signal` whenever a relay or a leader may have come or gone."""
        return tuple(
            self._session.watch_children(path, signal)
            for path in (self._paths.relays, self._paths.leaders)
        )

    def _below(self, path: str) -> dict[str, bytes]:
        try:
            names = self._session.children(path)
        except NodeMissing:
            return {}
        nodes = ((name, self._session.find(f"{path}/{name}")) for name in names)
        return {unquote(name): node.value for name, node in nodes if node is not None}
