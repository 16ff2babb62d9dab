"""Requests to copy tables into their topics. Operators create them, and relays end them."""

import threading
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Final
from urllib.parse import unquote

from relay.errors import NodeMissing
from relay.state.json_object import JsonObject, write_json
from relay.state.paths import Paths
from relay.zk import Create, Session, Watch

_MOST_BYTES: Final = 500_000
"""Largest size in bytes of the values in one ZooKeeper transaction: half of what a server accepts
by default (jute.maxbuffer).
"""


class SnapshotState(StrEnum):
    """The state of a copy request: what an operator ordered, or how the request ended."""

    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    CANCELLED = "CANCELLED"
    DONE = "DONE"
    REFUSED = "REFUSED"

    @property
    def ended(self) -> bool:
        """Return whether the request has ended."""
        return self in (SnapshotState.CANCELLED, SnapshotState.DONE, SnapshotState.REFUSED)


@dataclass(frozen=True, slots=True)
class SnapshotRequest:
    """One request to copy tables of one instance. A request for several instances has one document
    for each.

    tables           logical names (`database.table`, `*` matches any text)
    by, comment      who created it, and why
    where            an SQL condition; "" for every row
    keys             the rows to copy, each as the texts of its key columns; () for whole tables
    to_topic         the topic of the copies; "" for the topics of the mapping
    rows_per_second  the limit; 0: none
    priority         a greater number is executed first
    created_ms       when it was created, in Unix milliseconds
    state, reason    the state, and why it ended
    rows             how many rows it published, once it has ended
    version          the version of its node
    """

    id: str
    instance: str
    tables: tuple[str, ...] = ()
    where: str = ""
    keys: tuple[tuple[str, ...], ...] = ()
    to_topic: str = ""
    rows_per_second: int = 0
    priority: int = 0
    state: SnapshotState = SnapshotState.RUNNING
    reason: str = ""
    rows: int = 0
    by: str = ""
    comment: str = ""
    created_ms: int = 0
    version: int | None = field(default=None, compare=False)

    @property
    def is_paused(self) -> bool:
        """Return whether an operator has paused the request."""
        return self.state is SnapshotState.PAUSED

    def to_fields(self) -> dict[str, object]:
        """Return the fields of the JSON document, without the version, which ZooKeeper keeps."""
        fields = asdict(self)
        del fields["version"]
        return fields

    @classmethod
    def from_document(cls, value: bytes, version: int) -> "SnapshotRequest":
        """Return the request in a document. A state that only a newer version has is read as
        PAUSED.
        """
        fields = JsonObject.read(value)
        state = fields.text("state")
        return cls(
            id=fields.text("id"),
            instance=fields.text("instance"),
            tables=fields.texts("tables"),
            where=fields.text("where"),
            keys=fields.lists_of_texts("keys"),
            to_topic=fields.text("to_topic"),
            rows_per_second=fields.whole("rows_per_second"),
            priority=fields.whole("priority"),
            state=SnapshotState(state) if state in set(SnapshotState) else SnapshotState.PAUSED,
            reason=fields.text("reason"),
            rows=fields.whole("rows"),
            by=fields.text("by"),
            comment=fields.text("comment"),
            created_ms=fields.whole("created_ms"),
            version=version,
        )


def in_turn(requests: Iterable[SnapshotRequest]) -> list[SnapshotRequest]:
    """Return the requests in the order in which they are executed."""
    return sorted(requests, key=lambda each: (-each.priority, each.created_ms, each.id))


def _transactions(steps: Iterable[Create]) -> Iterator[list[Create]]:
    """Divide steps into transactions of about _MOST_BYTES."""
    found: list[Create] = []
    size = 0
    for step in steps:
        if found and size + len(step.value) > _MOST_BYTES:
            yield found
            found, size = [], 0
        found.append(step)
        size += len(step.value)
    if found:
        yield found


class SnapshotStore:
    """Reads and writes the copy requests of each instance. Each new or changed request also changes
    the parent node of the requests, which relays watch.
    """

    def __init__(self, session: Session, paths: Paths) -> None:
        self._session = session
        self._paths = paths

    def all_of(self, instance: str) -> list[SnapshotRequest]:
        """Return all requests of an instance, in the order in which they are executed. Raises
        StoreUnreachable.
        """
        try:
            names = self._session.children(self._paths.instance_snapshots(instance), synced=True)
        except NodeMissing:
            return []
        found = (self.find(instance, unquote(name)) for name in names)
        return in_turn(each for each in found if each is not None)

    def find(self, instance: str, request: str) -> SnapshotRequest | None:
        """Return one request, None if it does not exist. Raises StoreUnreachable."""
        path = self._paths.instance_snapshot(instance, request)
        node = self._session.find(path, synced=True)
        return None if node is None else SnapshotRequest.from_document(node.value, node.version)

    def create(self, *requests: SnapshotRequest) -> list[SnapshotRequest]:
        """Write new requests and return them with their versions.

        If they fit into one ZooKeeper transaction, all of them are written or none. Otherwise an
        error can leave only the first of them written. Raises VersionConflict, StoreUnreachable.
        """
        instances = {each.instance: None for each in requests}
        for instance in instances:
            self._session.ensure(self._paths.instance_snapshots(instance))
        for steps in _transactions(
            Create(self._path(each), write_json(each.to_fields())) for each in requests
        ):
            self._session.commit(steps)
        for instance in instances:
            self._signal(instance)
        return [replace(each, version=0) for each in requests]

    def write(self, request: SnapshotRequest) -> SnapshotRequest:
        """Write a changed request if its node is unchanged since it was read; return it with the
        new version.

        Raises VersionConflict, NodeMissing, StoreUnreachable.
        """
        before = -1 if request.version is None else request.version
        version = self._session.compare_and_set(
            self._path(request), write_json(request.to_fields()), before
        )
        self._signal(request.instance)
        return replace(request, version=version)

    def delete(self, request: SnapshotRequest) -> None:
        """Delete a request that has ended. Raises NodeMissing, StoreUnreachable."""
        self._session.delete(self._path(request))

    def watch(self, instance: str, signal: threading.Event) -> Watch:
        """Set `signal` whenever a request may have changed, and after every reconnection."""
        return self._session.watch(self._paths.instance_snapshots(instance), signal.set)

    def _path(self, request: SnapshotRequest) -> str:
        return self._paths.instance_snapshot(request.instance, request.id)

    def _signal(self, instance: str) -> None:
        self._session.put(self._paths.instance_snapshots(instance), b"")
