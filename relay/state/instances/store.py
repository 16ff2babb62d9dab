"""What relays tell about their instances, kept in ZooKeeper so that it outlives the relay that
wrote it.
"""

import threading
from collections.abc import Iterable
from time import time
from urllib.parse import unquote

from relay.errors import NodeMissing, VersionConflict
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
from relay.state.instances.status import InstanceStatus
from relay.state.json_object import write_json
from relay.state.mappings.topic_agreements import TopicAgreementStore
from relay.state.paths import Paths
from relay.zk import Session, Watch


class InstanceStore:
    """Statuses, start notes and dropped names.

    Only the relay that runs an instance writes; the last writer wins.
    """

    def __init__(self, session: Session, paths: Paths) -> None:
        self._session = session
        self._paths = paths
        self.flows = FlowStore(session, paths)
        self.failover = FailoverStore(session, paths)
        self.topics = TopicAgreementStore(session, paths)

    def put_status(self, status: InstanceStatus) -> None:
        """Replace the status of the instance; the last writer wins."""
        self._session.put(self._paths.instance_status(status.name), status.to_document())

    def status(self, instance: str) -> InstanceStatus:
        """Return the last status written, whether or not its relay still lives.

        Raises NodeMissing.
        """
        try:
            return InstanceStatus.from_document(
                instance, self._session.get(self._paths.instance_status(instance)).value
            )
        except NodeMissing as exc:
            raise NodeMissing(f"No relay has ever reported an instance called {instance}.") from exc

    def statuses(self) -> tuple[InstanceStatus, ...]:
        """Return the last status of every instance that has one, sorted by name."""
        nodes = (
            (name, self._session.find(self._paths.instance_status(name))) for name in self._names()
        )
        return tuple(
            InstanceStatus.from_document(name, node.value)
            for name, node in nodes
            if node is not None
        )

    def note_start(self, instance: str, note: StartNote) -> StartNote:
        """Note that the instance starts, and return the note that holds: an earlier one stays."""
        try:
            self._session.create(self._paths.instance_started(instance), note.to_document())
        except VersionConflict:
            return self.started(instance) or note
        return note

    def started(self, instance: str) -> StartNote | None:
        """Return the note, None for an instance that never started.

        A synced read, since a wrong None would repeat or lose rows.
        """
        node = self._session.find(self._paths.instance_started(instance), synced=True)
        return None if node is None else StartNote.from_document(node.value)

    def forget_start(self, instance: str) -> None:
        """Take the note away, on an operator's explicit wish for a fresh start.

        Raises NodeMissing.
        """
        self._session.delete(self._paths.instance_started(instance))

    def put_dropped(self, instance: str, names: Iterable[DroppedName]) -> None:
        """Replace the whole list of names that the mapping of the instance leaves out."""
        self._session.put(self._paths.instance_dropped(instance), write_dropped(names))

    def dropped(self, instance: str) -> tuple[DroppedName, ...]:
        """Return the names that the instance leaves out, those with the most rows first."""
        node = self._session.find(self._paths.instance_dropped(instance))
        return () if node is None else read_dropped(node.value)

    def put_tables(self, instance: str, names: Iterable[str]) -> None:
        """Note the real tables that the instance has met, as `database.table`: those that a dry run
        can speak of.
        """
        self._session.put(self._paths.instance_tables(instance), write_tables(names))

    def tables_of(self, instance: str) -> tuple[str, ...]:
        """Return the real tables that this instance has met, sorted."""
        node = self._session.find(self._paths.instance_tables(instance))
        return () if node is None else tuple(sorted(read_tables(node.value)))

    def tables(self) -> tuple[str, ...]:
        """Return the real tables that any instance has met, sorted."""
        nodes = [self._session.find(self._paths.instance_tables(name)) for name in self._names()]
        return tuple(
            sorted(
                {table for node in nodes if node is not None for table in read_tables(node.value)}
            )
        )

    def call(self, instance: str) -> None:
        """Let the relay that runs the instance look at its position again: something was done to it
        by hand.
        """
        self._session.put(
            self._paths.instance_called(instance), write_json({"called_ms": int(time() * 1000)})
        )

    def calls(self, instance: str) -> int | None:
        """Return a number that differs after every call, None where there was none."""
        node = self._session.find(self._paths.instance_called(instance), synced=True)
        return None if node is None else node.version

    def watch_calls(self, instance: str, signal: threading.Event) -> Watch:
        """Set the event whenever somebody may have called, and after every reconnect."""
        return self._session.watch(self._paths.instance_called(instance), signal.set)

    def _names(self) -> tuple[str, ...]:
        try:
            return tuple(unquote(name) for name in self._session.children(self._paths.instances))
        except NodeMissing:
            return ()
