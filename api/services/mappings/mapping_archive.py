"""Reads mappings: the active set, older sets, and each document's history."""

from typing import Final

import structlog

from api.errors import ActiveSetBroken, NoSuchThing
from api.readings import LastReading, Reading
from relay.errors import MappingRefused
from relay.route import ROMA_GROUP, MappingSet
from relay.state import MappingStore, SetRecord, StoredDocument, StoredSet

_KNOWN_SETS: Final = 50
"""Number of the newest sets that `known_sets` returns."""

_log: Final = structlog.stdlib.get_logger(__name__)


class MappingArchive:
    """Reads the saved mapping sets and documents, which are never overwritten."""

    def __init__(self, store: MappingStore) -> None:
        self._store = store
        self._last = LastReading[StoredSet]()
        self._last_sets = LastReading[list[SetRecord]]()

    def active(self) -> StoredSet:
        """Return the active set; set 0 without documents if nothing was ever saved.

        Raises ActiveSetBroken if the set cannot be read.
        """
        try:
            return self._store.current()
        except MappingRefused as exc:
            raise ActiveSetBroken(exc.reason) from exc

    def known(self) -> Reading[StoredSet]:
        """Return the active set; while ZooKeeper does not answer, return the set that was read
        last.

        Raises ActiveSetBroken, and StoreUnreachable if no reading has succeeded yet.
        """
        return self._last.of(self.active)

    def compiled(self) -> MappingSet:
        """Return the active set in the form that routers use.

        Raises ActiveSetBroken if the set cannot be read or contradicts itself.
        """
        stored = self.active()
        try:
            return MappingSet.compile(stored.number, stored.bodies)
        except MappingRefused as exc:
            raise ActiveSetBroken(f"Mapping set {stored.number}: {exc.reason}") from exc

    def document(self, group: str, data_id: str) -> tuple[StoredSet, str]:
        """Return the active set and the text of one of its documents.

        Raises NoSuchThing for another group and for a document that the set does not contain.
        """
        check_group(group)
        stored = self.active()
        if data_id not in stored.bodies:
            raise NoSuchThing(
                f"Mapping set {stored.number} has no document {data_id}.",
                remedy="Save the document with PUT at this URL.",
            )
        return stored, stored.bodies[data_id]

    def history(self, group: str, data_id: str, limit: int) -> list[StoredDocument]:
        """Return at most `limit` versions of a document, the newest first.

        Raises NoSuchThing for another group and for a document that was never saved.
        """
        check_group(group)
        versions = self._store.document_versions(data_id)
        if not versions:
            raise NoSuchThing(f"The document {data_id} was never saved.")
        return [self._store.document(data_id, version) for version in versions[:limit]]

    def version(self, group: str, data_id: str, version: int) -> StoredDocument:
        """Return one version of a document.

        Raises NoSuchThing for another group, NodeMissing for an unknown version.
        """
        check_group(group)
        return self._store.document(data_id, version)

    def active_version(self, data_id: str) -> int | None:
        """Return the number of a document's version in the active set.

        Returns None if the set does not contain the document or cannot be read.
        """
        try:
            number = self._store.number()
            return self._store.record(number).versions.get(data_id) if number else None
        except MappingRefused:
            return None

    def sets(self, limit: int) -> list[SetRecord]:
        """Return the metadata of at most `limit` sets, the newest first.

        Unreadable sets are omitted and logged.
        """
        found = []
        for number in self._store.set_numbers()[:limit]:
            try:
                found.append(self._store.record(number))
            except MappingRefused as exc:
                _log.warning("mapping_set_unreadable", set=number, reason=exc.reason)
        return found

    def known_sets(self) -> Reading[list[SetRecord]]:
        """Return the metadata of the newest sets; while ZooKeeper does not answer, return what was
        read last.

        Raises StoreUnreachable if no reading has succeeded yet.
        """
        return self._last_sets.of(lambda: self.sets(_KNOWN_SETS))

    def set(self, number: int) -> StoredSet:
        """Return the set of this number with its documents. Raises NodeMissing, MappingRefused."""
        return self._store.load(number)

    def active_number(self) -> int | None:
        """Return the number of the active set; None if ZooKeeper's pointer to it cannot be read."""
        try:
            return self._store.number()
        except MappingRefused:
            return None


def check_group(group: str) -> None:
    """Raise NoSuchThing unless `group` is the only group that contains mapping documents."""
    if group != ROMA_GROUP:
        raise NoSuchThing(
            f"There is no group {group}.",
            remedy=f"All mapping documents are in the group {ROMA_GROUP}.",
        )
