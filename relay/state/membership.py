"""Which relay processes live: one ephemeral node each."""

from contextlib import suppress
from dataclasses import asdict, dataclass
from urllib.parse import unquote

from relay.errors import NodeMissing
from relay.state.json_object import JsonObject, write_json
from relay.state.paths import Paths
from relay.zk import Session


@dataclass(frozen=True, slots=True)
class RelayMember:
    """A relay process; `status_url` is where it answers, empty where it does not. `started_ms` is Unix milliseconds."""

    name: str
    host: str = ""
    pid: int = 0
    status_url: str = ""
    instances: tuple[str, ...] = ()
    started_ms: int = 0

    def to_document(self) -> bytes:
        return write_json(asdict(self))

    @classmethod
    def from_document(cls, name: str, value: bytes) -> "RelayMember":
        fields = JsonObject.read(value)
        return cls(
            name=name,
            host=fields.text("host"),
            pid=fields.whole("pid"),
            status_url=fields.text("status_url"),
            instances=fields.texts("instances"),
            started_ms=fields.whole("started_ms"),
        )


class Membership:
    """Announces relays and lists them."""

    def __init__(self, session: Session, paths: Paths) -> None:
        self._session = session
        self._paths = paths

    def announce(self, member: RelayMember) -> None:
        """Make sure that the member's node is there, up to date, and the present session's; call it again after every new session.

        A node that an earlier session left behind is replaced, so the name must belong to one process alone.
        """
        path = self._paths.relay(member.name)
        if self._session.owns(path):
            self._session.put(path, member.to_document())
            return
        with suppress(NodeMissing):  # the usual case: the earlier session's node has gone with it
            self._session.delete(path)
        self._session.create_ephemeral(path, member.to_document())

    def members(self) -> tuple[RelayMember, ...]:
        """Return the relays that live, sorted by name."""
        try:
            names = [unquote(name) for name in self._session.children(self._paths.relays)]
        except NodeMissing:
            return ()
        nodes = ((name, self._session.find(self._paths.relay(name))) for name in names)
        return tuple(RelayMember.from_document(name, node.value) for name, node in nodes if node is not None)
