"""Stores the mapping sets: immutable and numbered, with one pointer to the active set."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from relay.errors import MappingRefused, NodeMissing, SaveTooLarge, VersionConflict
from relay.state.mappings.records import Note, Pointer, SetRecord, StoredDocument, StoredSet
from relay.state.paths import Paths
from relay.zk import Create, Replace, Session, Step, Watch

# ZooKeeper's server takes requests below 1 MiB - 1 (jute.maxbuffer) and hangs up on larger ones;
# paths and framing need some room.
SAVE_LIMIT_BYTES: Final = 1_000_000


class MappingStore:
    """Saves, loads and lists mapping sets.

    The texts of documents are not parsed here. No set is overwritten: a save and a rollback both
    add a set under the next number and move the pointer, in one ZooKeeper transaction. It fails
    with VersionConflict if the pointer was moved meanwhile.
    """

    def __init__(
        self, session: Session, paths: Paths, recorded: Callable[[], int] = lambda: 0
    ) -> None:
        """`recorded` returns the highest number of a set under which rows were published.

        Each save calls it, because ZooKeeper may have lost sets, or be an older copy of itself (ADR
        89).
        """
        self._session = session
        self._paths = paths
        self._recorded = recorded

    def number(self) -> int:
        """Return the number of the active set; 0 if nothing was saved.

        Raises MappingRefused if the pointer cannot be read.
        """
        return self._pointer().number

    def current(self) -> StoredSet:
        """Return the active set with its documents.

        Raises MappingRefused if it is damaged or does not exist.
        """
        number = self.number()
        try:
            return self.load(number)
        except NodeMissing as exc:
            raise _broken(number, "is active, but does not exist") from exc

    def load(self, number: int) -> StoredSet:
        """Return the set with this number and its documents.

        Raises NodeMissing if it does not exist, and MappingRefused if it is damaged.
        """
        if number == 0:
            return StoredSet.empty()
        record = self.record(number)
        try:
            return StoredSet(
                record,
                {
                    data_id: self.document(data_id, version).body
                    for data_id, version in record.versions.items()
                },
            )
        except NodeMissing as exc:
            raise _broken(number, f"names a document that does not exist ({exc.reason})") from exc

    def record(self, number: int) -> SetRecord:
        """Return a set without the texts of its documents. Raises NodeMissing, MappingRefused."""
        try:
            return SetRecord.from_document(
                number, self._session.get(self._paths.mapping_set(number)).value
            )
        except NodeMissing as exc:
            raise NodeMissing(f"There is no mapping set {number}.") from exc

    def document(self, data_id: str, version: int) -> StoredDocument:
        """Return one version of a document. Raises NodeMissing, MappingRefused."""
        try:
            value = self._session.get(self._paths.mapping_document(data_id, version)).value
        except NodeMissing as exc:
            raise NodeMissing(f"There is no version {version} of {data_id}.") from exc
        return StoredDocument.from_document(data_id, version, value)

    def set_numbers(self) -> tuple[int, ...]:
        """Return the numbers of all sets, the newest first."""
        return self._numbers(self._paths.mapping_sets)

    def document_versions(self, data_id: str) -> tuple[int, ...]:
        """Return the numbers of all versions of a document, the newest first; () if it was never
        saved.
        """
        return self._numbers(self._paths.mapping_documents(data_id))

    def save(self, base: StoredSet, bodies: Mapping[str, str], note: Note) -> StoredSet:
        """Save the documents `bodies` as the next set, activate it, and return it.

        `base` is the set from which they were edited. Unchanged documents keep their version;
        documents that are not in `bodies` are not in the new set. If nothing differs, `base` is
        returned, unless rows were published under a set with a higher number. Raises
        VersionConflict if `base` is no longer active, SaveTooLarge, and errors of the store's
        function `recorded`.
        """
        pointer = self._pointer_at(base.number)
        recorded = self._recorded()
        if dict(bodies) == dict(base.bodies) and base.number >= recorded:
            return base
        documents = [
            self._next_version(data_id, body, note)
            for data_id, body in bodies.items()
            if base.bodies.get(data_id) != body
        ]
        versions = {
            data_id: version
            for data_id, version in base.record.versions.items()
            if data_id in bodies
        }
        versions |= {document.data_id: document.version for document in documents}
        record = SetRecord(self._next_number(pointer, recorded), versions, note)
        self._activate(pointer, record, documents)
        return StoredSet(record, dict(bodies))

    def roll_back(self, to: int, base: int | None, note: Note) -> StoredSet:
        """Activate the contents of the older set `to` again, as a new set with the next number;
        return it.

        `base` is the number of the active set; None replaces any pointer, even one that cannot be
        read. Raises NodeMissing, MappingRefused if the older set is damaged, VersionConflict if
        `base` is no longer active, and errors of the store's function `recorded`.
        """
        pointer = self._pointer_at(base)
        old = self.load(to)
        number = self._next_number(pointer, self._recorded())
        record = SetRecord(number, old.record.versions, note, restored_from=to)
        self._activate(pointer, record, [])
        return replace(old, record=record)

    def put_over(
        self, bodies: Mapping[str, str], note: Note, above: int, *, is_apart: bool
    ) -> StoredSet:
        """Activate the documents `bodies` as a new set, even if the pointer names another set or
        cannot be read; return the new set.

        Its number is higher than `above`. `is_apart`: no rows were published under the sets before
        it. Raises SaveTooLarge, and VersionConflict for a save at the same time.
        """
        pointer = self._pointer_at(None)
        documents = [self._next_version(data_id, body, note) for data_id, body in bodies.items()]
        versions = {document.data_id: document.version for document in documents}
        number = self._next_number(pointer, above)
        record = SetRecord(number, versions, note, is_apart=is_apart)
        self._activate(pointer, record, documents)
        return StoredSet(record, dict(bodies))

    def watch(self, changed: threading.Event) -> Watch:
        """Set `changed` whenever another set may have become active, and after every
        reconnection.
        """
        return self._session.watch(self._paths.mapping_pointer, changed.set)

    def _pointer(self) -> Pointer:
        node = self._session.find(self._paths.mapping_pointer, synced=True)
        return Pointer(0, None) if node is None else Pointer.from_document(node.value, node.version)

    def _pointer_at(self, number: int | None) -> Pointer:
        if number is None:
            node = self._session.find(self._paths.mapping_pointer, synced=True)
            return Pointer(0, None if node is None else node.version)
        pointer = self._pointer()
        if pointer.number != number:
            raise VersionConflict(
                f"Mapping set {pointer.number} is active, and the edit was made from set {number}."
            )
        return pointer

    def _numbers(self, path: str) -> tuple[int, ...]:
        try:
            names = self._session.children(path, synced=True)
        except NodeMissing:
            return ()
        return tuple(sorted((int(name) for name in names if name.isdecimal()), reverse=True))

    def _next_number(self, pointer: Pointer, above: int) -> int:
        # The pointer may name an older set than the newest one; a number is never used twice.
        return max(pointer.number, above, *self.set_numbers()[:1]) + 1

    def _next_version(self, data_id: str, body: str, note: Note) -> StoredDocument:
        return StoredDocument(
            data_id, max(self.document_versions(data_id), default=0) + 1, body, note
        )

    def _activate(
        self, pointer: Pointer, record: SetRecord, documents: Sequence[StoredDocument]
    ) -> None:
        self._session.ensure(self._paths.mapping_sets)
        steps: list[Step] = []
        for document in documents:
            self._session.ensure(self._paths.mapping_documents(document.data_id))
            steps.append(
                Create(
                    self._paths.mapping_document(document.data_id, document.version),
                    document.to_document(),
                )
            )
        steps.append(Create(self._paths.mapping_set(record.number), record.to_document()))
        _check_size(steps, documents)
        moved = Pointer(record.number, None).to_document()
        if pointer.guard is None:
            steps.append(Create(self._paths.mapping_pointer, moved))
        else:
            steps.append(Replace(self._paths.mapping_pointer, moved, pointer.guard))
        self._session.commit(steps)


def _check_size(steps: Sequence[Step], documents: Sequence[StoredDocument]) -> None:
    size = sum(len(step.value) for step in steps if isinstance(step, Create))
    if size > SAVE_LIMIT_BYTES:
        largest = max(documents, key=lambda document: len(document.body))
        raise SaveTooLarge(
            f"This save has {size} bytes, and ZooKeeper accepts at most {SAVE_LIMIT_BYTES} in "
            f"one request; {largest.data_id} is the largest part.",
            data_id=largest.data_id,
            pointer="",
        )


def _broken(number: int, how: str) -> MappingRefused:
    return MappingRefused(
        f"Mapping set {number} {how}.",
        data_id="",
        pointer="",
        remedy="Roll back to a good set, or save all documents again.",
    )
