"""Compares the mapping set in an instance's position record with the set in ZooKeeper, and lets an
operator accept the latter.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from relay.errors import MappingRefused, MoveRefused, NodeMissing
from relay.model.names.mapping_name import MappingName, same_store
from relay.model.records.position_record import PositionRecord
from relay.model.table import TableId, tables_named
from relay.operations.fenced_record import Act, FencedRecord
from relay.operations.who import Who
from relay.route import MappingSet, RouteChange, Router, changes, left_out_of_report
from relay.settings import InstanceSettings, RelaySettings
from relay.state import InstanceStore, MappingStore, Paths, StoredSet
from relay.zk import Session

_ANY_OTHER_TABLE: Final = "*"
"""Represents the tables of a database that no document names. MySQL has no table of this name."""


@dataclass(frozen=True, slots=True)
class MappingComparison:
    """The set `named` in the position record, compared with ZooKeeper's active set `found`.

    same            whether ZooKeeper continues the sets under which rows were published, so that no
                    acceptance is necessary
    known           whether the documents of `named` can be read
    changes         what changes for tables from `named` to `found`; if not known, all of `found`
    half_published  the half-published transaction, which ends under its own set; "": there is none
    """

    named: MappingName
    found: MappingName
    same: bool
    known: bool
    changes: tuple[RouteChange, ...]
    half_published: str = ""


class InstanceMapping:
    """Compares and accepts mapping sets for one instance of this installation."""

    def __init__(
        self, settings: RelaySettings, instance: InstanceSettings, session: Session
    ) -> None:
        paths = Paths.of(settings.zookeeper, settings.installation)
        self.name = instance.name
        self._routing = instance.routing
        self._record = FencedRecord(settings, instance, session)
        self._store = MappingStore(session, paths)
        self._notes = InstanceStore(session, paths)

    def compare(self) -> MappingComparison:
        """Compare the mapping set in the position record with the active one in ZooKeeper. Nothing
        is changed.

        Raises MoveRefused for an instance without a position record, MappingRefused for an invalid
        set in ZooKeeper, BrokerUnreachable, PositionUnreadable, StoreUnreachable.
        """
        record = None if self._record.store.ensure_topic() else self._record.store.read()
        named, found = _named(record), self._store.current()
        kept = self._documents(named)
        before = (
            MappingSet.empty() if kept is None else MappingSet.compile(named.number, dict(kept))
        )
        after = MappingSet.compile(found.number, dict(found.bodies))
        return MappingComparison(
            named,
            found.name,
            self._same(named, found),
            kept is not None,
            self._changes(before, after),
            _half_published(record),
        )

    def accept(self, wanted: MappingName, who: Who) -> MappingName:
        """Let the instance publish later transactions under the active set in ZooKeeper; return the
        replaced set.

        A half-published transaction is published to its end under the former set. Raises
        MoveRefused if the active set is not `wanted`, or if no acceptance is necessary, and the
        errors of `compare`.
        """
        found = self._store.current()
        if found.name != wanted:
            reason = f"In ZooKeeper mapping set {found.name} is active, not {wanted}."
            raise MoveRefused(
                reason, remedy="The mapping was changed meanwhile. Read the comparison again."
            )
        self._check_complete(found)

        def change(record: PositionRecord | None) -> PositionRecord:
            named = _named(record)
            if record is None or self._same(named, found):
                reason = (
                    f"Mapping set {found.name} needs no confirmation: the relay follows it by "
                    f"itself."
                )
                raise MoveRefused(reason, remedy="Nothing to do.")
            return record.under(found.name)

        before, _ = self._record.write(
            Act("mapping.accept", change, _fields, {found.name.digest: found.bodies}), who
        )
        return _named(before)

    def _documents(self, named: MappingName) -> Mapping[str, str] | None:
        """Return the documents of the record's set.

        They are read from the position topic, or for older records from ZooKeeper.
        """
        if named.digest:
            return self._record.store.kept_mapping(named.digest)
        try:
            return self._store.load(named.number).bodies
        except (NodeMissing, MappingRefused):
            return None

    def _same(self, named: MappingName, found: StoredSet) -> bool:
        return same_store(named, found.name, self._recorded(named))

    def _recorded(self, named: MappingName) -> MappingName | None:
        try:
            return self._store.load(named.number).name
        except (NodeMissing, MappingRefused):
            return None

    def _check_complete(self, found: StoredSet) -> None:
        if (
            MappingSet.compile(found.number, dict(found.bodies)).maps_nothing
            and self._routing.unmapped_db != "default_topic"
        ):
            reason = (
                f"Mapping set {found.name} maps no database: every row of {self.name} would be "
                f"left out or stop it."
            )
            raise MoveRefused(reason, remedy="Save the other documents first.")

    def _changes(self, before: MappingSet, after: MappingSet) -> tuple[RouteChange, ...]:
        left_out = left_out_of_report((before, after))
        known = self._tables(before, after, named=not left_out)
        return (
            *changes(Router(before, self._routing), Router(after, self._routing), known),
            *left_out,
        )

    def _tables(self, *sets: MappingSet, named: bool) -> set[TableId]:
        """Return the tables to compare.

        These are the tables that the instance has read, those that the documents name (`named`),
        and `*` of each database that they name.
        """
        met = set(tables_named(self._notes.tables_of(self.name)))
        others = {
            TableId(database, _ANY_OTHER_TABLE)
            for each in sets
            for database in each.named_databases
        }
        return met.union(others, *(each.named_tables for each in sets if named))


def active_mapping_set(settings: RelaySettings, session: Session) -> MappingSet:
    """Return the active mapping set in ZooKeeper; set 0 if none was saved.

    Raises MappingRefused, StoreUnreachable.
    """
    stored = MappingStore(session, Paths.of(settings.zookeeper, settings.installation)).current()
    return MappingSet.compile(stored.number, dict(stored.bodies))


def _named(record: PositionRecord | None) -> MappingName:
    if record is None:
        raise MoveRefused(
            "The instance has no position record, so there is no mapping set to accept.",
            remedy="Start a relay with this instance: it publishes under the mapping in ZooKeeper.",
        )
    return record.mapping


def _half_published(record: PositionRecord | None) -> str:
    return (
        ""
        if record is None or record.split is None
        else f"{record.split.begin} {record.split.gtid}".strip()
    )


def _fields(record: PositionRecord | None) -> Mapping[str, Any]:
    return (
        {}
        if record is None
        else {"mapping_set": record.mapping_set, "mapping_digest": record.mapping_digest}
    )
