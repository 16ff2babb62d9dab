"""The mapping set that rows are published under, renewed between two source transactions."""

import threading
from collections.abc import Callable, Mapping
from typing import TypeAlias

import structlog

from relay.errors import MappingLost, MappingRefused, NodeMissing, StoreUnreachable
from relay.model.names.mapping_name import MappingName, digest_of
from relay.model.records.position_record import PositionRecord
from relay.pipeline.delivery.saved_position import mapping_lost, mapping_missing
from relay.route import MappingSet, Router
from relay.settings import RoutingSettings
from relay.state import MappingStore

_log = structlog.stdlib.get_logger(__name__)

Documents: TypeAlias = Mapping[str, str]
ReadKept: TypeAlias = Callable[[str], Documents | None]
"""Reads the documents that the position topic keeps under a digest; None where it keeps none."""


class ActiveMapping:
    """Holds one compiled set; `problem` says why a newer one is not in force.

    `changed` is set by the watch on the store's pointer. A set of the store is put in force only if
    the store continues the sets that the position record names (`same_store`): a store that was
    wiped, or that belongs to another installation, never changes a route.
    """

    def __init__(
        self,
        store: MappingStore,
        routing: RoutingSettings,
        changed: threading.Event,
        instance: str = "",
    ) -> None:
        self.problem = ""
        self.router = Router(MappingSet.empty(), routing)
        self.name = MappingName()
        self._documents: Documents = {}
        self._named = MappingName()
        self._followed: set[MappingName] = set()
        self._judged = 0
        self._store = store
        self._routing = routing
        self._changed = changed
        self._instance = instance

    @property
    def number(self) -> int:
        """The number of the set in force."""
        return self.name.number

    @property
    def documents(self) -> Mapping[str, Documents]:
        """The documents of the set in force, by its digest."""
        return {self.name.digest: self._documents}

    def begin(self, record: PositionRecord | None, read_kept: ReadKept) -> None:
        """Put the set in force that the next rows are published under.

        A half-published transaction is continued under its own set, which the position topic keeps;
        what follows it is not. While ZooKeeper does not answer, the set that this relay took from
        it stays in force if the record names it or one that it replaced. Raises MappingLost,
        MappingMissing, MappingRefused, StoreUnreachable, and what `read_kept` raises.
        """
        self._named = MappingName() if record is None else record.mapping
        if record is not None and record.split is not None:
            self._resume(record.split.mapping, read_kept)
            return
        try:
            self._follow_store()
        except StoreUnreachable:
            if not {self.name, self._named} <= self._followed:
                raise
            self._changed.set()

    def look(self) -> None:
        """Check that the store's current set can be read and compiled; the set in force stays.

        Raises MappingRefused, StoreUnreachable.
        """
        stored = self._store.current()
        MappingSet.compile(stored.number, dict(stored.bodies))

    def has_news(self) -> bool:
        """Whether the store's pointer names another set than the one that was judged last.

        Asks ZooKeeper only after a signal.
        """
        if not self._changed.is_set():
            return False
        self._changed.clear()
        try:
            return self._store.number() != self._judged
        except (StoreUnreachable, MappingRefused):
            return False  # the next connection, or the next save, signals again

    def renew(self) -> bool:
        """Put the store's set in force if it was changed; True when names may have changed.

        Raises MappingLost, and StoreUnreachable while the set in force is that of a resumed
        transaction alone.
        """
        if not self._changed.is_set():
            return False
        before = self.router
        try:
            self._follow_store()
        except MappingRefused as exc:
            if self.problem != str(exc):
                _log.warning(
                    "mapping_set_ignored",
                    instance=self._instance,
                    in_force=self.number,
                    reason=exc.reason,
                )
            self.problem = str(exc)
        except StoreUnreachable:
            self._changed.set()
            if self.name not in self._followed:
                raise
        return self.router is not before

    def _follow_store(self) -> None:
        self._changed.clear()
        self._judged = self._store.number()
        stored = self._store.current()
        if lost := mapping_lost(self._named, stored.name, self._recorded(stored.name)):
            self._followed.clear()
            raise lost
        mapping = MappingSet.compile(stored.number, dict(stored.bodies))
        if missing := mapping_missing(self._named, mapping, self._routing):
            raise missing
        self._use(stored.name, stored.bodies, mapping)
        self._followed |= {self._named, stored.name}
        self._named = stored.name

    def _recorded(self, in_force: MappingName) -> MappingName | None:
        """Return what the store holds under the number that the record names."""
        if in_force.number == self._named.number:
            return in_force
        try:
            return self._store.load(self._named.number).name
        except (NodeMissing, MappingRefused):
            return None

    def _resume(self, wanted: MappingName, read_kept: ReadKept) -> None:
        """Put the set in force that a half-published transaction began under, from memory,
        ZooKeeper or the position topic.
        """
        self._changed.set()  # the store is compared at the transaction's end
        if wanted.digest and self.name == wanted:
            return
        documents = self._stored(wanted)
        if documents is None and wanted.digest:
            documents = read_kept(wanted.digest)
        if documents is None:
            raise MappingLost(
                f"Part of a transaction was published under mapping set {wanted}, which neither "
                f"ZooKeeper nor the position topic holds.",
                remedy=(
                    "Put the documents of that set back with `roma restore`; the transaction is "
                    "then published to its end under it."
                ),
            )
        name = MappingName(wanted.number, digest_of(documents) if wanted.number else "")
        self._use(name, documents, MappingSet.compile(wanted.number, dict(documents)))
        self._followed &= {name}

    def _stored(self, wanted: MappingName) -> Documents | None:
        """Return the documents of a set if ZooKeeper holds exactly this one."""
        try:
            stored = self._store.load(wanted.number)
        except (NodeMissing, MappingRefused):
            return None
        except StoreUnreachable:
            if not wanted.digest:
                raise
            return None
        return stored.bodies if wanted.digest in ("", stored.name.digest) else None

    def _use(self, name: MappingName, documents: Documents, mapping: MappingSet) -> None:
        self.problem = ""
        if name == self.name:
            return
        self.name, self._documents = name, documents
        _log.info(
            "mapping_set_in_force", instance=self._instance, number=name.number, digest=name.digest
        )
        self.router = Router(mapping, self._routing)
