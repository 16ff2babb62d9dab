"""Saves, reads and rolls back mapping sets for an operator, without the admin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import time

from relay.audit import AuditEntry, DelayedTrail
from relay.errors import MappingRefused, VersionConflict
from relay.operations.mappings.early_returns import EarlyReturns
from relay.operations.mappings.recorded_sets import highest_recorded_set
from relay.operations.who import Who
from relay.route import MOST_STEPS, Effort, MappingProblem, problems
from relay.settings import RelaySettings
from relay.state import InstanceStore, MappingStore, Note, Paths, SetRecord, StoredSet
from relay.zk import Session


@dataclass(frozen=True, slots=True)
class MappingEdit:
    """The effect of a save or a rollback, before it is carried out.

    base           the number of the active set
    bodies         the documents after it
    changed        the dataIds whose text differs
    problems       why the set cannot become active, empty if it can
    restored_from  the older set of a rollback, None for a save
    """

    base: int
    bodies: Mapping[str, str]
    changed: Sequence[str]
    problems: Sequence[MappingProblem]
    restored_from: int | None = None


class MappingSets:
    """The mapping sets of one installation.

    A save is refused if another set became active since it was prepared. `acts` receives the
    audit entry of each new set.
    """

    def __init__(self, settings: RelaySettings, session: Session, acts: DelayedTrail) -> None:
        paths = Paths.of(settings.zookeeper, settings.installation)
        self._recorded = partial(highest_recorded_set, settings)
        self._store = MappingStore(session, paths, self._recorded)
        self._returns = EarlyReturns(self._store, InstanceStore(session, paths))
        self._acts = acts

    def stored(self, number: int | None = None) -> StoredSet:
        """Return the set with this number; None: the active set.

        Raises NodeMissing, MappingRefused, StoreUnreachable.
        """
        return self._store.current() if number is None else self._store.load(number)

    def history(self, limit: int) -> tuple[int, Sequence[SetRecord]]:
        """Return the number of the active set (0: none), and the newest sets without their
        documents, the newest first.

        `limit` is how many sets at most.
        """
        return self._store.number(), [
            self._store.record(number) for number in self._store.set_numbers()[:limit]
        ]

    def edit(self, documents: Mapping[str, bytes], base: int | None = None) -> MappingEdit:
        """Return the effect of saving these documents; documents that are not given stay.

        Raises VersionConflict if `base` is given and is not the number of the active set.
        """
        current = self._store.current()
        if base is not None and base != current.number:
            raise VersionConflict(
                f"Mapping set {current.number} is active, and the edit was made from set {base}."
            )
        return _edit(
            current,
            {**current.bodies, **{name: _text(name, body) for name, body in documents.items()}},
        )

    def roll_back_to(self, number: int) -> MappingEdit:
        """Return the effect of activating an older set's documents again.

        Raises NodeMissing if there is no set with this number, and MappingRefused if it cannot be
        read.
        """
        return _edit(self._store.current(), self._store.load(number).bodies, restored_from=number)

    def needs_number(self, edit: MappingEdit) -> bool:
        """Return whether rows were published under a set with a higher number than the active one.

        A save then creates a new set even if the documents are equal. Raises BrokerUnreachable, and
        the errors of `highest_recorded_set`.
        """
        return self._recorded() > edit.base

    def carry_out(self, edit: MappingEdit, who: Who) -> StoredSet:
        """Save the documents of an edit as the next set, activate it, and return it.

        Raises VersionConflict if another save was faster, MappingRefused if the edit has problems,
        and TableReturnsEarly if a table would return to a former topic too early.
        """
        if edit.problems:
            first = edit.problems[0]
            raise MappingRefused(first.sentence, data_id=first.data_id, pointer=first.pointer)
        self._returns.refuse(edit.bodies)
        note = Note(who.name, who.comment, int(time() * 1000))
        if edit.restored_from is not None:
            stored = self._store.roll_back(edit.restored_from, edit.base, note)
            after = {"set": stored.number, "restored_from": edit.restored_from}
            self._note("mapping.rolled-back", {"set": edit.base}, after, who)
            return stored
        current = self._store.current()
        if current.number != edit.base:
            raise VersionConflict(
                f"Mapping set {current.number} is active, and the edit was made from set "
                f"{edit.base}."
            )
        stored = self._store.save(current, edit.bodies, note)
        if stored.number != current.number:
            self._note("mapping.saved", _told(current), _told(stored), who)
        return stored

    def _note(
        self, act: str, before: Mapping[str, object], after: Mapping[str, object], who: Who
    ) -> None:
        self._acts.note(AuditEntry(who.name, act, "", before, after, who.comment))


def _told(stored: StoredSet) -> Mapping[str, object]:
    return {"set": stored.number, "documents": dict(stored.record.versions)}


def _edit(
    current: StoredSet, bodies: Mapping[str, str], restored_from: int | None = None
) -> MappingEdit:
    changed = sorted(
        name for name in {*current.bodies, *bodies} if current.bodies.get(name) != bodies.get(name)
    )
    return MappingEdit(
        current.number, bodies, changed, problems(bodies, effort=Effort(MOST_STEPS)), restored_from
    )


def _text(data_id: str, body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as exc:
        raise MappingRefused(
            f"The document {data_id} is not UTF-8.", data_id=data_id, pointer=""
        ) from exc
