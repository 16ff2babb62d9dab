"""Changes mappings: checks the documents as a whole, and refuses a change of an outdated set."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from api.entity_tag import Precondition
from api.errors import ActiveSetBroken, ProblemsFound
from api.services.mappings.effects.edit_effects import EditEffects
from api.services.mappings.effects.load import Load
from api.services.mappings.mapping_archive import check_group
from api.services.mappings.merge.conflict import Conflicts
from api.services.mappings.routing_views import RouteEffect
from relay.audit import AuditEntry, DelayedTrail
from relay.errors import MappingRefused, RelayError, TableReturnsEarly
from relay.operations import DefinedInstances, EarlyReturns
from relay.route import MOST_STEPS, TOPICS, Effort, MappingProblem, problems
from relay.state import MappingStore, Note, StoredSet
from relay.telemetry.metrics import ADMIN_SAVES


@dataclass(frozen=True, slots=True)
class Saved:
    """The result of a save.

    stored   the active set
    made     True: this save created that set
    changes  the effects of the save
    """

    stored: StoredSet
    made: bool
    changes: list[RouteEffect]


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a dry run: what saving the edit would do.

    base       number of the active set
    bodies     dataId → text of each document after the edit
    problems   why the edit cannot be saved; empty: it can be saved
    changes    the effects of the edit
    unchanged  number of known tables whose routes stay the same
    """

    base: int
    bodies: Mapping[str, str]
    problems: list[MappingProblem]
    changes: list[RouteEffect]
    unchanged: int
    loads: list[Load | None] = field(default_factory=list)
    """Rows per second that each change concerns now; None: unknown, or nothing is published now."""


class MappingEditor:
    """Saves mapping documents. Every save creates a complete mapping set without contradictions.

    A logical database needs a topic in the same or an earlier save. In an empty installation, save
    all documents together, or one after another in the order topics, dbs, tbs, tags. A set that
    lacks a topic never becomes active.
    """

    def __init__(
        self,
        store: MappingStore,
        defined: Callable[[], DefinedInstances],
        effects: EditEffects,
        acts: DelayedTrail,
        returns: EarlyReturns,
    ) -> None:
        self._store = store
        self._returns = returns
        self._acts = acts
        self._defined = defined
        self._effects = effects
        self._conflicts = Conflicts(store.current, store.load)

    def save_document(
        self, group: str, data_id: str, body: str, precondition: Precondition, note: Note
    ) -> Saved:
        """Replace or add one document; the other documents are unchanged.

        group         the group of the document
        data_id       name of the document
        body          its new text
        precondition  the state of the mappings that the client expects (If-Match)
        note          author and comment

        Raises NoSuchThing for another group, ProblemsFound, TableReturnsEarly, ActiveSetBroken, and
        the errors of `Precondition.check`.
        """
        check_group(group)
        base = self._base(strict=True)
        with self._conflicts.named(precondition, lambda began: {**began.bodies, data_id: body}):
            precondition.check(base.number, exists=data_id in base.bodies)
            return self._save(base, {**base.bodies, data_id: body}, note)

    def save_group(
        self, group: str, bodies: Mapping[str, str], precondition: Precondition, note: Note
    ) -> Saved:
        """Replace all documents together. A document that `bodies` does not contain is deleted.

        `bodies` maps dataId to text. This also replaces an active set that cannot be read. The
        other parameters and the errors are those of `save_document`.
        """
        check_group(group)
        base = self._base(strict=False)
        with self._conflicts.named(precondition, lambda _: bodies):
            precondition.check(base.number, exists=base.number > 0)
            return self._save(base, bodies, note)

    def roll_back(self, to: int, precondition: Precondition, note: Note) -> Saved:
        """Save the contents of the set with the number `to` as the next set, and activate it.

        The other parameters are those of `save_document`. Raises ProblemsFound if the older set is
        not acceptable now, NodeMissing, TableReturnsEarly, and the errors of `Precondition.check`.
        """
        base = self._base_of_roll_back(precondition)
        with _counted():
            self._refuse(self._store.load(to).bodies)
            stored = self._store.roll_back(to, None if precondition.blind else base.number, note)
        after = {"set": stored.number, "restored_from": to}
        self._acts.note(
            AuditEntry(
                note.author,
                "mapping.rolled-back",
                "",
                {"set": base.number},
                after,
                note.comment,
            )
        )
        return Saved(stored, made=True, changes=self._changes(base.bodies, stored.bodies))

    def try_out(
        self, edits: Mapping[str, str], tables: Iterable[str], *, whole: bool = False
    ) -> Trial:
        """Return what saving these documents would do. Nothing is saved.

        edits   dataId → text
        tables  names of real tables whose routes are compared in addition to those of known tables
        whole   True: documents that `edits` does not contain would be deleted. False: they stay
                unchanged
        """
        base = self._base(strict=False)
        bodies = edits if whole else {**base.bodies, **edits}
        found = _problems(bodies) or self._early_problems(bodies)
        if found:
            return Trial(base.number, bodies, found, [], 0)
        defined = self._defined()
        effects = self._effects.of(base.bodies, bodies, defined, tables)
        loads = self._effects.loads(effects.changes, defined)
        return Trial(base.number, bodies, found, effects.changes, effects.unchanged, loads)

    def check(self, bodies: Mapping[str, str]) -> list[MappingProblem]:
        """Return the problems of documents that would be saved as one set."""
        return _problems(bodies)

    def changes_of(self, number: int) -> list[RouteEffect]:
        """Return the effects of a set compared with the previous one, for the tables known at
        present.

        Raises NodeMissing, MappingRefused.
        """
        stored = self._store.load(number)
        before = max((each for each in self._store.set_numbers() if each < number), default=0)
        former = self._store.load(before) if before else StoredSet.empty()
        return self._changes(former.bodies, stored.bodies)

    def _save(self, base: StoredSet, bodies: Mapping[str, str], note: Note) -> Saved:
        with _counted():
            self._refuse(bodies)
            stored = self._store.save(base, bodies, note)
        made = stored.number != base.number
        if made:
            before, after = (
                {"set": each.number, "documents": dict(each.record.versions)}
                for each in (base, stored)
            )
            self._acts.note(
                AuditEntry(note.author, "mapping.saved", "", before, after, note.comment)
            )
        return Saved(stored, made, self._changes(base.bodies, stored.bodies) if made else [])

    def _refuse(self, bodies: Mapping[str, str]) -> None:
        found = _problems(bodies)
        if found:
            raise ProblemsFound(found, bodies)
        self._returns.refuse(bodies)

    def _early_problems(self, bodies: Mapping[str, str]) -> list[MappingProblem]:
        try:
            self._returns.refuse(bodies)
        except TableReturnsEarly as exc:
            return [MappingProblem(TOPICS, "", f"{exc.reason} {exc.way_out}")]
        return []

    def _base(self, *, strict: bool) -> StoredSet:
        """Return the active set.

        If it is damaged and not `strict`: an empty set under its number.

        Raises ActiveSetBroken.
        """
        try:
            return self._store.current()
        except MappingRefused as exc:
            if strict:
                raise ActiveSetBroken(exc.reason) from exc
        try:
            return StoredSet.empty(self._store.number())
        except MappingRefused as exc:
            raise ActiveSetBroken(exc.reason) from exc

    def _base_of_roll_back(self, precondition: Precondition) -> StoredSet:
        try:
            base = self._base(strict=False)
        except ActiveSetBroken:
            if not precondition.blind:
                raise
            return StoredSet.empty()
        precondition.check(base.number, exists=True)
        return base

    def _changes(self, before: Mapping[str, str], after: Mapping[str, str]) -> list[RouteEffect]:
        return self._effects.of(before, after, self._defined()).changes


def _problems(bodies: Mapping[str, str]) -> list[MappingProblem]:
    return problems(bodies, effort=Effort(MOST_STEPS))


@contextmanager
def _counted() -> Iterator[None]:
    """Count a save under the code of its error, or as saved."""
    try:
        yield
    except RelayError as exc:
        ADMIN_SAVES.labels(exc.code).inc()
        raise
    ADMIN_SAVES.labels("saved").inc()
