"""Everything that a mapping edit means for the instances that are defined now, in sentences for the
person who is about to save it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from api.services.mappings.moved_tables import moved_tables
from api.services.mappings.routing_views import (
    ANY_OTHER_TABLE,
    Change,
    changes_between,
    routing_views,
    tables_to_speak_of,
)
from api.services.mappings.shared_topics import SharedTopics
from api.services.mappings.unmet_tables import unmet_tables
from relay.model.table import TableId, tables_named
from relay.operations import DefinedInstances
from relay.route import Documents, MappingSet, problems
from relay.state import InstanceStore


@dataclass(frozen=True, slots=True)
class Effects:
    """What an edit changes, and how many known real tables it leaves as they are."""

    changes: list[Change]
    unchanged: int


class EditEffects:
    """Compares two sets for all known tables; `notes` tells which tables each instance has met."""

    def __init__(self, notes: InstanceStore) -> None:
        self._notes = notes
        self._shared = SharedTopics(notes.tables_of, notes.topics.read)

    def of(
        self,
        before: Documents,
        after: Documents,
        defined: DefinedInstances,
        tables: Iterable[str] = (),
    ) -> Effects:
        """Return what changes.

        `tables` are spoken of beside those that relays have met and those that the documents name.
        """
        # A set that was put there by hand may be unacceptable; it routed nothing, since no relay
        # takes it.
        old = MappingSet.empty() if problems(before) else MappingSet.compile(0, before)
        new = MappingSet.compile(0, after)
        known, left_out = tables_to_speak_of(
            [(old, before), (new, after)], [*self._notes.tables(), *tables]
        )
        met = {each.name: self._met(each.name) for each in defined.settings}
        moved = changes_between(routing_views(defined.settings), old, new, known)
        found = [
            *([] if left_out else unmet_tables(old, new, met)),
            *moved,
            *left_out,
            *self._shared.contradictions(defined.settings, new),
            *moved_tables(defined.settings, old, new, met),
            *_left_out(defined),
        ]
        named = {table for each in moved for table in each.tables}
        real = {str(each) for each in known if each.table != ANY_OTHER_TABLE}
        return Effects(found, len(real - named))

    def _met(self, instance: str) -> list[TableId]:
        return tables_named(self._notes.tables_of(instance))


def _left_out(defined: DefinedInstances) -> Iterator[Change]:
    for name, reason in defined.unusable.items():
        yield Change(
            (name,),
            f"The settings of {name} cannot be used, so nothing is said of it here: {reason}",
            (),
        )
