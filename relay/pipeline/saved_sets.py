"""Reads mapping sets that were saved in the store: one by its number and digest, or several
consecutive ones.
"""

from collections.abc import Mapping
from typing import NamedTuple, Protocol, TypeAlias

from relay.errors import MappingRefused, NodeMissing, StoreUnreachable
from relay.model.names.mapping_name import MappingName
from relay.route import MappingSet
from relay.state import StoredSet

Documents: TypeAlias = Mapping[str, str]


class MappingSets(Protocol):
    """The numbered mapping sets; the store in ZooKeeper implements it."""

    def number(self) -> int:
        """Return the number of the newest set, which should be active. Raises MappingRefused,
        StoreUnreachable.
        """

    def current(self) -> StoredSet:
        """Return the newest set, which should be active. Raises MappingRefused,
        StoreUnreachable.
        """

    def load(self, number: int) -> StoredSet:
        """Return the set with this number. Raises NodeMissing, MappingRefused, StoreUnreachable."""


class KnownSet(NamedTuple):
    """A mapping set.

    name       its number and digest
    documents  its documents
    mapping    the set, compiled from them
    """

    name: MappingName
    documents: Documents
    mapping: MappingSet


class SavedSets:
    """Reads the mapping sets of one store."""

    def __init__(self, store: MappingSets) -> None:
        self._store = store

    def known(self, number: int) -> KnownSet | None:
        """Return the set with this number; None if it is missing or cannot be compiled. Raises
        StoreUnreachable.
        """
        try:
            stored = self._store.load(number)
            mapping = MappingSet.compile(number, dict(stored.bodies))
        except (NodeMissing, MappingRefused):
            return None
        return KnownSet(stored.name, stored.bodies, mapping)

    def compiled(self, number: int) -> MappingSet | None:
        """Return the compiled set with this number; None if it is missing or cannot be compiled.

        Raises StoreUnreachable.
        """
        found = self.known(number)
        return None if found is None else found.mapping

    def through(self, before: KnownSet, last: MappingSet) -> list[MappingSet]:
        """Return `before`, the sets that were saved after it, and `last`, in this order.

        Returns only `before` and `last` if a set between them cannot be read. Returns only these
        also if the store has another set under the number of `before`, because the sets between
        then do not follow `before` (ADR 89). Raises StoreUnreachable.
        """
        number = before.name.number
        if before.name.digest and not self._has(before.name):
            return [before.mapping, last]
        between = [self.compiled(each) for each in range(number + 1, last.number)]
        known = [each for each in between if each is not None]
        return [before.mapping, *(known if len(known) == len(between) else ()), last]

    def _has(self, name: MappingName) -> bool:
        found = self.known(name.number)
        return found is not None and found.name == name

    def documents(self, wanted: MappingName) -> Documents | None:
        """Return the documents of the set `wanted`; None if ZooKeeper does not have it or has
        another set under its number.

        Raises StoreUnreachable only if `wanted` has no digest; otherwise an outage gives None.
        """
        try:
            stored = self._store.load(wanted.number)
        except (NodeMissing, MappingRefused):
            return None
        except StoreUnreachable:
            if not wanted.digest:
                raise
            return None
        return stored.bodies if wanted.digest in ("", stored.name.digest) else None

    def newest_after(self, number: int) -> MappingSet | None:
        """Return the newest set with a higher number that can be compiled; None if there is none.

        Raises MappingRefused, StoreUnreachable.
        """
        for each in range(self._store.number(), number, -1):
            if (found := self.compiled(each)) is not None:  # no instance publishes under others
                return found
        return None
