"""Stores the reports of relays about their instances in ZooKeeper, where they outlive the relay."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from time import time
from urllib.parse import unquote

from relay.errors import NodeMissing, VersionConflict
from relay.state.decoded_nodes import DecodedNodes
from relay.state.failover_store import FailoverStore
from relay.state.instances.flow import FlowStore
from relay.state.instances.notes import (
    DroppedName,
    StartNote,
    read_dropped,
    read_tables,
    write_dropped,
    write_tables,
)
from relay.state.instances.snapshots import SnapshotStore
from relay.state.instances.status import InstanceStatus
from relay.state.json_object import write_json
from relay.state.mappings.key_forms import KeyFormStore
from relay.state.mappings.topic_agreements import TopicAgreementStore
from relay.state.paths import Paths
from relay.zk import Session, Watch


class InstanceStore:
    """Stores what relays report about their instances: the status, the note about the first start,
    and the tables that an instance reads or leaves out.

    The relay that runs an instance writes them. A relay that refuses the document of an instance
    also writes its status. A later write replaces an earlier one, except that the note about the
    first start is never replaced. `flows`, `snapshots`, `failover`, `topics` and `key_forms` are
    further stores for instances.
    """

    def __init__(self, session: Session, paths: Paths) -> None:
        self._session = session
        self._paths = paths
        self._decoded = DecodedNodes(InstanceStatus.from_document)
        self.flows = FlowStore(session, paths)
        self.snapshots = SnapshotStore(session, paths)
        self.failover = FailoverStore(session, paths)
        self.topics = TopicAgreementStore(session, paths)
        self.key_forms = KeyFormStore(session, paths)

    def put_status(self, status: InstanceStatus) -> None:
        """Replace the status of the instance."""
        self._session.put(self._paths.instance_status(status.name), status.to_document())

    def status(self, instance: str) -> InstanceStatus:
        """Return the last status that a relay wrote, even if that relay no longer runs.

        Raises NodeMissing.
        """
        try:
            return InstanceStatus.from_document(
                instance, self._session.get(self._paths.instance_status(instance)).value
            )
        except NodeMissing as exc:
            raise NodeMissing(f"No relay has ever reported an instance named {instance}.") from exc

    def statuses(self) -> tuple[InstanceStatus, ...]:
        """Return the last status of every instance that has one, sorted by name."""
        names = self._names()
        nodes = self._session.find_all([self._paths.instance_status(name) for name in names])
        return tuple(self._decoded.decoded(names, nodes).values())

    def published_sets(self, topic: str) -> Mapping[str, int | None]:
        """Return the instances that publish to a topic, each with the mapping set in its last
        position record.

        None: its relay has not reported one. The reads are synced.
        """
        names = [name for name, each in self.topics.read(topic).feeders.items() if each.joined]
        return {each: self._published_set(each) for each in names}

    def _published_set(self, instance: str) -> int | None:
        node = self._session.find(self._paths.instance_status(instance), synced=True)
        return (
            None
            if node is None
            else InstanceStatus.from_document(instance, node.value).published_set
        )

    def note_start(self, instance: str, note: StartNote) -> StartNote:
        """Record the first start of an instance, and return the valid note: an existing
        one stays.
        """
        try:
            self._session.create(self._paths.instance_started(instance), note.to_document())
        except VersionConflict:
            return self.started(instance) or note
        return note

    def started(self, instance: str) -> StartNote | None:
        """Return the start note; None for an instance that never started.

        The read is synced, because a wrong None would repeat or lose rows.
        """
        node = self._session.find(self._paths.instance_started(instance), synced=True)
        return None if node is None else StartNote.from_document(node.value)

    def put_dropped(self, instance: str, names: Iterable[DroppedName]) -> None:
        """Replace the list of tables that the instance's mapping leaves out.

        A table keeps the time at which it was first listed.
        """
        path = self._paths.instance_dropped(instance)
        node = self._session.find(path)
        before = b"" if node is None else node.value
        self._session.put(path, write_dropped(names, before, int(time() * 1000)))

    def dropped(self, instance: str) -> tuple[DroppedName, ...]:
        """Return the real tables that the instance leaves out, those with the most rows first."""
        node = self._session.find(self._paths.instance_dropped(instance))
        return () if node is None else read_dropped(node.value)

    def dropped_of(self, instances: Sequence[str]) -> Mapping[str, tuple[DroppedName, ...]]:
        """Return for each of these instances the real tables that it leaves out."""
        nodes = self._session.find_all([self._paths.instance_dropped(each) for each in instances])
        return {
            each: () if node is None else read_dropped(node.value)
            for each, node in zip(instances, nodes, strict=True)
        }

    def put_tables(self, instance: str, names: Iterable[str]) -> None:
        """Store the real tables that the instance has read, as `database.table`, for dry runs of
        mappings.
        """
        self._session.put(self._paths.instance_tables(instance), write_tables(names))

    def tables_of(self, instance: str) -> tuple[str, ...]:
        """Return the real tables that this instance has read, sorted."""
        node = self._session.find(self._paths.instance_tables(instance))
        return () if node is None else tuple(sorted(read_tables(node.value)))

    def tables_of_each(self, instances: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """Return the real tables that each of these instances has read, sorted."""
        paths = [self._paths.instance_tables(each) for each in instances]
        nodes = self._session.find_all(paths, large=True)
        return {
            each: () if node is None else tuple(sorted(read_tables(node.value)))
            for each, node in zip(instances, nodes, strict=True)
        }

    def tables_changes(self, instances: Sequence[str]) -> Mapping[str, int | None]:
        """Return for each of these instances a number that changes with its list of tables; None:
        it has no list.
        """
        paths = [self._paths.instance_tables(each) for each in instances]
        return dict(zip(instances, self._session.changes(paths), strict=True))

    def tables(self) -> tuple[str, ...]:
        """Return the real tables that any instance has read, sorted."""
        found = self.tables_of_each(self._names())
        return tuple(sorted({table for theirs in found.values() for table in theirs}))

    def call(self, instance: str) -> None:
        """Signal the instance's relay to read its position again after an operator's change."""
        self._session.put(
            self._paths.instance_called(instance), write_json({"called_ms": int(time() * 1000)})
        )

    def calls(self, instance: str) -> int | None:
        """Return a number that changes with every call of `call`; None if there was none."""
        node = self._session.find(self._paths.instance_called(instance), synced=True)
        return None if node is None else node.version

    def watch_calls(self, instance: str, signal: threading.Event) -> Watch:
        """Set `signal` after each possible call, and after every reconnection."""
        return self._session.watch(self._paths.instance_called(instance), signal.set)

    def _names(self) -> tuple[str, ...]:
        try:
            return tuple(unquote(name) for name in self._session.children(self._paths.instances))
        except NodeMissing:
            return ()
