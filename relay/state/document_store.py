"""Takes a backup of an installation's documents in ZooKeeper, and restores it."""

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from time import time
from typing import Final

from relay.errors import BackupRefused, MappingRefused, NodeMissing, VersionConflict
from relay.model.names.mapping_name import MappingName, RecordedSets
from relay.state.backup import Backup, BackupDifferences, is_fact, passes
from relay.state.mappings.records import Note
from relay.state.mappings.restored_mapping import POINTER, active_number, active_set
from relay.state.mappings.store import MappingStore
from relay.state.paths import Paths
from relay.zk import Session

_NOTE: Final = Note(comment="Restored from a backup.")
_NONE: Final = RecordedSets()


class DocumentStore:
    """Takes and restores all documents of one installation in ZooKeeper."""

    def __init__(self, session: Session, paths: Paths, installation: str) -> None:
        self._session = session
        self._base = paths.base
        self._mappings = MappingStore(session, paths)
        self._installation = installation

    def take(self) -> Backup:
        """Return a backup of all documents.

        The pointer is read first, because its set is written before the pointer moves.
        """
        pointer = self._session.find(f"{self._base}/{POINTER}", synced=True)
        nodes = {path: value for path, value in self._below("") if path != POINTER}
        if pointer is not None:
            nodes[POINTER] = pointer.value
        return Backup(self._installation, int(time() * 1000), dict(sorted(nodes.items())))

    def put(self, backup: Backup, *, over_present: bool) -> int:
        """Restore a backup, and return how many nodes were written.

        Raises the errors of `check` and `write`.
        """
        changes = self.check(backup, over_present=over_present)
        self.write(backup, changes)
        return len(changes.to_write)

    def check(self, backup: Backup, *, over_present: bool) -> BackupDifferences:
        """Return what `write` would change, without writing.

        Raises BackupRefused for a backup of another installation, or if documents exist and
        `over_present` is False.
        """
        if backup.installation != self._installation:
            raise BackupRefused(
                f"The backup is of installation {backup.installation!r}, and this is "
                f"{self._installation!r}."
            )
        present = self.take().nodes
        if present and not over_present:
            reason = (
                f"ZooKeeper already has {len(present)} documents of this installation, for "
                f"example {next(iter(present))}."
            )
            raise BackupRefused(
                reason,
                remedy=(
                    "Add --over-present to replace the documents that differ. Documents that "
                    "the backup lacks stay, and so do facts that relays have recorded. The "
                    "backup's mapping becomes a new mapping set."
                ),
            )
        return backup.changes(present)

    def write(
        self,
        backup: Backup,
        changes: BackupDifferences,
        told: Callable[[str], object] = lambda _: None,
        *,
        note: Note = _NOTE,
        recorded: RecordedSets = _NONE,
    ) -> None:
        """Restore the nodes in `changes`, the pointer last; `told` is called with each path after
        its write.

        A new mapping set gets `note`, which says who restores. `recorded` are the mapping sets in
        position records: if the backup's set has a lower number than one of them, its contents
        become active under a new number. If a relay records a fact meanwhile, that fact stays. If
        somebody else writes another node meanwhile, BackupRefused is raised. Raises
        StoreUnreachable, SaveTooLarge.
        """
        for path in changes.to_write:
            if path == POINTER:
                self._put_mapping(backup, changes, note, recorded)
            elif is_fact(path):
                self._create(path, backup.nodes[path])
            else:
                self._put(path, backup.nodes[path])
            told(path)

    def _put_mapping(
        self, backup: Backup, changes: BackupDifferences, note: Note, recorded: RecordedSets
    ) -> None:
        """Activate the set of the backup, under its number if that is not a former one."""
        bodies = changes.new_set
        if bodies is None and active_number(backup.nodes) < recorded.highest:
            bodies = active_set(backup.nodes)
        if bodies is None:
            self._put(POINTER, backup.nodes[POINTER])
        else:
            is_apart = self._is_of_another_store(recorded.names)
            self._mappings.put_over(bodies, note, recorded.highest, is_apart=is_apart)

    def _is_of_another_store(self, names: Collection[MappingName]) -> bool:
        """Return whether rows were published, and under none of the present sets."""
        return all(each.digest and not self._has(each) for each in names) and bool(names)

    def _has(self, name: MappingName) -> bool:
        try:
            return self._mappings.load(name.number).name == name
        except (NodeMissing, MappingRefused):
            return False

    def _create(self, path: str, value: bytes) -> None:
        with suppress(VersionConflict):
            self._session.create(f"{self._base}/{path}", value)

    def _put(self, path: str, value: bytes) -> None:
        try:
            self._session.put(f"{self._base}/{path}", value)
        except VersionConflict as exc:
            raise BackupRefused(
                f"{path} was written by another process meanwhile.",
                remedy="Restore the backup again, with --over-present.",
            ) from exc

    def _below(self, path: str) -> Iterator[tuple[str, bytes]]:
        """Yield (path, value) of every document below a node, without nodes that are not in
        backups.
        """
        try:
            names = self._session.children(f"{self._base}/{path}".rstrip("/"), synced=not path)
        except NodeMissing:
            return
        for name in names:
            child = f"{path}/{name}".lstrip("/")
            if not passes(child):
                yield from self._document(child)
                yield from self._below(child)

    def _document(self, path: str) -> Iterator[tuple[str, bytes]]:
        node = self._session.find(f"{self._base}/{path}")
        if node is not None and node.value and node.ephemeral_owner is None:
            yield path, node.value
