"""The pause and the rate limits that operators set for an instance."""

import threading
from dataclasses import asdict, dataclass, replace
from typing import Final

from relay.state.json_object import JsonObject, write_json
from relay.state.paths import Paths
from relay.zk import Session, Watch

NO_LIMIT: Final = 0


@dataclass(frozen=True, slots=True)
class Flow:
    """The pause and the limits per second that an operator has set for an instance.

    A limit of None means that of the configuration file; NO_LIMIT means none. `by` and `comment`
    say who set them and why.
    """

    paused: bool = False
    rows_per_second: int | None = None
    bytes_per_second: int | None = None
    by: str = ""
    comment: str = ""
    version: int | None = None

    def to_document(self) -> bytes:
        """Return the JSON document, without `version`, which ZooKeeper keeps."""
        fields = asdict(self)
        del fields["version"]
        return write_json(fields)

    @classmethod
    def from_document(cls, value: bytes, version: int) -> "Flow":
        """Return the flow in a document. Missing or unreadable fields set no pause and no limit."""
        fields = JsonObject.read(value)
        limits = (fields.whole_or_none(name) for name in ("rows_per_second", "bytes_per_second"))
        rows, size = (None if each is None or each < 0 else each for each in limits)
        return cls(
            fields.truth("paused"), rows, size, fields.text("by"), fields.text("comment"), version
        )


class FlowStore:
    """Reads and writes the pause and limits that operators set for each instance."""

    def __init__(self, session: Session, paths: Paths) -> None:
        self._session = session
        self._paths = paths

    def read(self, instance: str) -> Flow:
        """Return the pause and limits of an instance. Raises StoreUnreachable."""
        node = self._session.find(self._paths.instance_flow(instance), synced=True)
        return Flow() if node is None else Flow.from_document(node.value, node.version)

    def write(self, instance: str, flow: Flow) -> Flow:
        """Write the pause and limits if they are unchanged since `flow.version`; return them with
        the new version.

        Raises VersionConflict, StoreUnreachable.
        """
        path, document = self._paths.instance_flow(instance), flow.to_document()
        if flow.version is not None:
            return replace(
                flow, version=self._session.compare_and_set(path, document, flow.version)
            )
        self._session.create(path, document)
        return replace(flow, version=0)

    def watch(self, instance: str, signal: threading.Event) -> Watch:
        """Set `signal` whenever the pause or limits may have changed, and after every
        reconnection.
        """
        return self._session.watch(self._paths.instance_flow(instance), signal.set)
