"""Describes the effects of a mapping edit on the present instances in sentences."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from api.services.mappings.effects.load import InstanceRates, Load, load_of
from api.services.mappings.effects.meeting_keys import MeetingKeys
from api.services.mappings.effects.moved_tables import moved_tables
from api.services.mappings.effects.shared_topics import SharedTopics
from api.services.mappings.effects.unmet_tables import unmet_tables
from api.services.mappings.routers import Routers
from api.services.mappings.routing_views import (
    ANY_OTHER_TABLE,
    RouteEffect,
    changes_between,
    routing_views,
    tables_to_speak_of,
)
from relay.model.table import TableId, tables_named
from relay.operations import DefinedInstances
from relay.route import Documents, MappingSet, problems
from relay.state import InstanceStore


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects of an edit.

    changes    the effects, as sentences
    unchanged  number of known real tables whose routes the edit does not change
    """

    changes: list[RouteEffect]
    unchanged: int


class EditEffects:
    """Compares two mapping sets for all known tables."""

    def __init__(
        self,
        notes: InstanceStore,
        rates: Callable[[], Mapping[str, InstanceRates]] = dict,
        installation: str = "",
    ) -> None:
        """Compare for one installation.

        notes         the tables that each instance has read
        rates         returns instance → the rows per second that it publishes
        installation  its name, from which the names of the relay's own topics follow; "": edits are
                      not checked for rows in these topics
        """
        self._notes = notes
        self._rates = rates
        self._installation = installation

    def of(
        self,
        before: Documents,
        after: Documents,
        defined: DefinedInstances,
        tables: Iterable[str] = (),
    ) -> Effects:
        """Return the effects of replacing the documents `before` by `after`.

        before   the documents of the active set
        after    the documents after the edit
        defined  the present instances
        tables   names of further real tables to compare. The tables that relays have read and the
                 tables in the documents are always compared
        """
        # A set that was put there by hand may be unacceptable; it routed nothing, since no relay
        # takes it.
        old = MappingSet.empty() if problems(before) else MappingSet.compile(0, before)
        new = MappingSet.compile(0, after)
        known, left_out = tables_to_speak_of(
            [(old, before), (new, after)], [*self._notes.tables(), *tables]
        )
        met, routers = self._met(defined), Routers()
        shared = SharedTopics(met, self._notes.topics.read, routers, self._installation)
        keys = MeetingKeys(met, self._notes.key_forms, routers)
        moved = changes_between(routing_views(defined.settings), old, new, known, routers)
        found = [
            *([] if left_out else unmet_tables(old, new, met)),
            *moved,
            *left_out,
            *shared.contradictions(defined.settings, new),
            *keys.changes(defined.settings, old, new),
            *moved_tables(defined.settings, old, new, met, routers),
            *_left_out(defined),
        ]
        named = {table for each in moved for table in each.tables}
        real = {str(each) for each in known if each.table != ANY_OTHER_TABLE}
        return Effects(found, len(real - named))

    def loads(self, changes: Iterable[RouteEffect], defined: DefinedInstances) -> list[Load | None]:
        """Return for each change the rows per second that it concerns now; None: it is unknown or
        nothing is published now.
        """
        met = self._met(defined)
        rates = self._rates()
        return [load_of(each, met, rates) for each in changes]

    def _met(self, defined: DefinedInstances) -> dict[str, list[TableId]]:
        found = self._notes.tables_of_each([each.name for each in defined.settings])
        return {name: tables_named(theirs) for name, theirs in found.items()}


def _left_out(defined: DefinedInstances) -> Iterator[RouteEffect]:
    for name, reason in defined.unusable.items():
        yield RouteEffect(
            (name,),
            f"The settings of {name} are invalid, so it is not compared here: {reason}",
            (),
        )
