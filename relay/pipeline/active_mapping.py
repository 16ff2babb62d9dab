"""The mapping set under which an instance publishes rows. It changes only between two source
transactions.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import structlog

from relay.errors import (
    BatchAborted,
    MappingLost,
    MappingRefused,
    NodeMissing,
    RelayError,
    StoreUnreachable,
    TopicRefused,
)
from relay.model.names.mapping_name import MappingName, digest_of
from relay.model.records.position_record import PositionRecord
from relay.pipeline.delivery.saved_position import mapping_lost, mapping_missing
from relay.pipeline.saved_sets import Documents, KnownSet, MappingSets, SavedSets
from relay.pipeline.table_return_guard import TableReturnGuard
from relay.route import MappingSet, Router, table_moves
from relay.settings import RoutingSettings
from relay.state import InstanceStore

_log = structlog.stdlib.get_logger(__name__)

ReadKept: TypeAlias = Callable[[str], Documents | None]
"""Returns the documents of the set with this digest from the position topic; None if it lacks them.
"""
Prepare: TypeAlias = Callable[[Sequence[MappingSet]], None]
"""Called before another set is activated, with the active set, those saved after it, and that set.

Raises StoreUnreachable to keep the active set.
"""


class ActiveMapping:
    """Holds the compiled active mapping set; `problem` says why a newer set is not active, "" if
    no newer set is saved or refused. A set of the store is used only if the store continues the set
    that the position record names (`same_store`). So a store that was wiped, or that belongs to
    another installation, never changes a route. A set may give tables a topic back that an older
    set took from them. Such a set becomes active only when all instances have left that topic (ADR
    81).
    """

    def __init__(
        self,
        store: MappingSets,
        routing: RoutingSettings,
        changed: threading.Event,
        instance: str = "",
        notes: InstanceStore | None = None,
    ) -> None:
        """Start with an empty set. `changed` is set by the watch on the store's pointer. `notes`
        reads the statuses of other instances; None: no set waits for other instances.
        """
        self.problem = ""
        self.router = Router(MappingSet.empty(), routing)
        self.name = MappingName()
        self._documents: Documents = {}
        self._named = MappingName()
        self._followed: set[MappingName] = set()
        self._judged = 0
        self._is_resumed = False
        self._store = store
        self._saved = SavedSets(store)
        self._returns = TableReturnGuard(notes, self._saved.compiled, instance)
        self._routing = routing
        self._changed = changed
        self._instance = instance

    @property
    def number(self) -> int:
        """The number of the active mapping set."""
        return self.name.number

    @property
    def documents(self) -> Mapping[str, Documents]:
        """The documents of the active mapping set, in a dictionary of one entry with the set's
        digest as key.
        """
        return {self.name.digest: self._documents}

    def begin(self, record: PositionRecord | None, read_kept: ReadKept) -> None:
        """Activate the set for the next rows, at the start of a run. For the rest of a
        half-published transaction this is the set under which its first part was published;
        `read_kept` reads that set from the position topic by digest. Otherwise it is the store's
        newest set. If ZooKeeper does not answer, it is the last set that this relay has read,
        provided that the record names this set or an earlier one that this relay has read. Raises
        MappingLost, MappingMissing, MappingRefused, StoreUnreachable, and the errors of
        `read_kept`.
        """
        self._named = MappingName() if record is None else record.mapping
        if record is not None and record.split is not None:
            self._resume(record.split.mapping, read_kept)
            return
        try:
            self._follow_store(former=None if record is None else self._former(read_kept))
        except StoreUnreachable:
            if not {self.name, self._named} <= self._followed:
                raise
            self._changed.set()

    def check_readable(self) -> None:
        """Check that the store's current set can be read and compiled, without activating it.
        Raises MappingRefused, StoreUnreachable.
        """
        stored = self._store.current()
        MappingSet.compile(stored.number, dict(stored.bodies))

    def has_news(self) -> bool:
        """Return whether the newest set in the store is another one than at the last check. Reads
        ZooKeeper only after its watch fired. Returns False if ZooKeeper does not answer.
        """
        if not self._changed.is_set():
            return False
        self._changed.clear()
        try:
            return self._store.number() != self._judged
        except (StoreUnreachable, MappingRefused):
            return False  # the next connection, or the next save, signals again

    def renew(self, prepare: Prepare | None = None) -> bool:
        """If the store has a newer set, activate the newest allowed one; return whether another set
        is active now. Before a change, `prepare` is called with the sets from the former one to the
        new one. Raises MappingLost and MappingMissing. During an outage of ZooKeeper the active set
        stays; StoreUnreachable is raised only if that set is for a resumed transaction alone.
        """
        if not self._changed.is_set() or self._returns.is_pausing:
            return False
        before = self.router
        try:
            self._follow_store(prepare, self._active())
        except MappingRefused as exc:
            self._note_problem("mapping_set_ignored", exc, self.problem)
        except StoreUnreachable:
            self._changed.set()
            if self.name not in self._followed:
                raise
        return self.router is not before

    def sets_since(self, before: KnownSet) -> list[MappingSet]:
        """Return `before`, the sets that were saved after it, and the active set, in this order.
        Returns only `before` and the active set if a set between them cannot be read, or if the
        store was replaced by another one. Raises StoreUnreachable.
        """
        return self._saved.through(before, self.router.mapping)

    def published_set(self, record: PositionRecord, read_kept: ReadKept) -> KnownSet | None:
        """Return the set that a position record names, with its documents. None if that set is the
        active one, if its documents no longer exist, or if the record is inside a half-published
        transaction. Raises StoreUnreachable and the errors of `read_kept`.
        """
        name = record.mapping
        if name == self.name or not name.digest or record.split is not None:
            return None
        return self._named_set(name, read_kept)

    def refuse_left(self, topic: str) -> None:
        """Raise an error if the newest set no longer routes this instance's tables to `topic`. Call
        it before the first row to `topic`: another instance may already have published the marker
        that ends a table there. Raises BatchAborted if the next run must begin under the newer set,
        TopicRefused if a half-published transaction prevents that, MappingRefused,
        StoreUnreachable.
        """
        newer = self._saved.newest_after(self.number)
        if newer is None or not any(table_moves(self.router.mapping, newer, (topic,))):
            return
        if self._is_resumed:
            raise TopicRefused(
                f"A transaction is published in part under mapping set {self.name}. Its next "
                f"rows are the first ones of this instance in topic {topic}, and mapping set "
                f"{newer.number} no longer sends its tables there.",
                remedy=(
                    f"Save the documents of set {self.number} again (roma mapping rollback) and "
                    "start the instance. Save the edit again when the instance runs."
                ),
            )
        allowed, _ = self._returns.allowed(self._saved.through(self._active(), newer))
        if len(allowed) > 1 or not self._returns.no_other_is_beyond(topic, self.number):
            raise BatchAborted(
                f"Mapping set {newer.number} no longer sends tables to topic {topic}, and this "
                "instance has not published their first row there yet."
            )

    def _active(self) -> KnownSet:
        return KnownSet(self.name, self._documents, self.router.mapping)

    def _former(self, read_kept: ReadKept) -> KnownSet | None:
        """Return the set that the record names; None where its documents are gone."""
        return self._named_set(self._named, read_kept) if self._named.digest else None

    def _named_set(self, name: MappingName, read_kept: ReadKept) -> KnownSet | None:
        """Return the set of this name, from the position topic or the store."""
        documents = read_kept(name.digest)
        if documents is None:
            documents = self._saved.documents(name)
        if documents is None:
            return None
        return KnownSet(name, documents, MappingSet.compile(name.number, dict(documents)))

    def _follow_store(self, prepare: Prepare | None = None, former: KnownSet | None = None) -> None:
        """Activate the newest set that may follow `former`."""
        self._changed.clear()
        self._judged = self._store.number()
        stored = self._store.current()
        if lost := mapping_lost(self._named, stored.name, self._recorded(stored.name)):
            self._followed.clear()
            raise lost
        mapping = MappingSet.compile(stored.number, dict(stored.bodies))
        if missing := mapping_missing(self._named, mapping, self._routing):
            raise missing
        newest = KnownSet(stored.name, stored.bodies, mapping)
        chain = [mapping] if former is None else self._saved.through(former, mapping)
        allowed, held = self._returns.allowed(chain)
        chosen = newest if held is None else self._set_before(allowed[-1].number, former)
        if prepare is not None and chosen.name != self.name:
            prepare(allowed)
        problem = self.problem
        self._use(*chosen)
        self._is_resumed = False
        self._followed |= {self._named, chosen.name}
        self._named = chosen.name
        if held is not None:
            self._changed.set()
            self._note_problem("mapping_set_held", held, problem)

    def _set_before(self, number: int, former: KnownSet | None) -> KnownSet:
        """Return a set on the way to the newest one. Raises MappingRefused if it is gone now."""
        if former is not None and former.mapping.number == number:
            return former
        found = self._saved.known(number)
        if found is None:
            raise MappingRefused(
                f"Mapping set {number}, which comes before the newest one, was deleted in "
                "ZooKeeper while the relay read the sets.",
                data_id="",
                pointer="",
                remedy=(
                    "First see with `roma mapping history` which sets are left. If others are "
                    "missing too, ZooKeeper lost data: restore the backup (`roma restore "
                    "FOLDER`). Then, if the instance is stopped, run `roma instance start "
                    f"{self._instance}`: it goes from its own set directly to the newest one. A "
                    "running instance keeps its active set until the next save."
                ),
            )
        return found

    def _note_problem(self, event: str, error: RelayError, before: str) -> None:
        """Show why the newest set is not active, and log it once."""
        self.problem = str(error)
        if self.problem != before:
            _log.warning(event, instance=self._instance, active=self.number, reason=error.reason)

    def _recorded(self, active: MappingName) -> MappingName | None:
        """Return the set that the store holds under the number in the record."""
        if active.number == self._named.number:
            return active
        try:
            return self._store.load(self._named.number).name
        except (NodeMissing, MappingRefused):
            return None

    def _resume(self, wanted: MappingName, read_kept: ReadKept) -> None:
        """Put the active set that a half-published transaction began under, from memory,
        ZooKeeper or the position topic.
        """
        self._changed.set()  # the store is compared at the transaction's end
        self._is_resumed = True
        if wanted.digest and self.name == wanted:
            return
        documents = self._saved.documents(wanted)
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

    def _use(self, name: MappingName, documents: Documents, mapping: MappingSet) -> None:
        self.problem = ""
        if name == self.name:
            return
        self.name, self._documents = name, documents
        _log.info(
            "mapping_set_activated", instance=self._instance, number=name.number, digest=name.digest
        )
        self.router = Router(mapping, self._routing)
