"""Begins the schema history of a source: describes its tables from its catalogue."""

from collections.abc import Collection
from contextlib import closing
from dataclasses import replace
from typing import Final, NamedTuple

import structlog

from relay.errors import SchemaMismatch, SourceNotPermitted, SourceUnreachable, Stop
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import BinlogPosition, SourcePosition
from relay.model.table import TableId
from relay.schema import (
    CatalogReader,
    CatalogSnapshot,
    DescribedTable,
    FollowedTables,
    HistoryPosition,
    Known,
    TableHistory,
    Version,
    classify,
)
from relay.settings import SourceSettings
from relay.source import (
    VISIBLE_SECONDS,
    Visibility,
    end_of_binlog,
    statements_between,
)

_log = structlog.stdlib.get_logger(__name__)

_ATTEMPTS: Final = 10
"""So often the catalogue is asked for tables that were changed while it was asked."""
_CHANGED: Final = "it was changed at {}, and its earlier definition is unknown"
_WAY_OUT: Final = (
    "Start the instance at a position after the table's last change. Or exclude the table by "
    "the filter until then, and copy it again. With binlog_row_metadata=FULL on the source, "
    "the binlog has the column names from then on."
)


class _Alteration(NamedTuple):
    """The last change of a table, and whether all its changes were of indexes."""

    at: BinlogPosition
    of_indexes: bool


class _Alterations(NamedTuple):
    """What statements between two positions changed: tables with their last change, the default
    character sets of databases; and the statements' GTIDs, None if one has none.
    """

    tables: dict[TableId, _Alteration]
    databases: frozenset[str]
    gtids: GtidSet | None

    def then(self, later: "_Alterations") -> "_Alterations":
        """Return these alterations combined with the later ones in `later`."""
        tables = {
            table: change._replace(of_indexes=change.of_indexes and earlier.of_indexes)
            if (earlier := self.tables.get(table)) is not None
            else change
            for table, change in later.tables.items()
        }
        return _Alterations(
            {**self.tables, **tables}, self.databases | later.databases, later.gtids
        )


class NamesOpening:
    """Describes the tables of a source, as they were at the start position."""

    def __init__(
        self,
        settings: SourceSettings,
        catalog: CatalogReader,
        schemas: FollowedTables,
        start: SourcePosition,
    ) -> None:
        self._settings = settings
        self._catalog = catalog
        self._schemas = schemas
        self._start = start
        self._here = HistoryPosition.of_position(start)

    def anew(self) -> TableHistory:
        """Return a new schema history, made from the present catalogue of the source.

        If a table was changed after the start position, its definition is known only from its last
        change on.
        """
        snapshot, changes = self._described(())
        changed = changes.tables
        for name, charset in snapshot.databases.items():
            if name not in changes.databases:  # else the stream tells it
                self._schemas.put_database(name, charset)
        later = []
        for table, described in snapshot.tables.items():
            change = changed.pop(self._schemas.name(table), None)
            self._schemas.put(table, described if change is None else _before(change, described))
            later += (
                [Version(self._position(change.at), table, described)] if change is not None else []
            )
        for table, change in changed.items():
            self._schemas.put(table, _CHANGED.format(change.at))
        _log.info(
            "tables_described",
            tables=len(self._schemas),
            changed_since=len(later),
            at=str(self._start.binlog),
        )
        history = TableHistory(self._schemas, self._start.identity, later)
        history.begin(self._here, self._start.gtid_set)
        return history

    def repair(self, history: TableHistory, doubtful: Collection[TableId]) -> None:
        """Describe the tables `doubtful` again from the catalogue, valid from their last change on.

        Raises SchemaMismatch for a dropped table, and SourceNotPermitted for one that the account
        may not read.
        """
        if not doubtful:
            return
        snapshot, changes = self._described(doubtful)
        for table in doubtful:
            described = snapshot.tables.get(table)
            change = changes.tables.get(self._schemas.name(table))
            if described is None:
                raise self._untold(table)
            if change is None:
                history.keep(Version(self._here, table, described))
            else:
                history.expect([Version(self._position(change.at), table, described)])

    def _described(self, wanted: Collection[TableId]) -> tuple[CatalogSnapshot, _Alterations]:
        """Return the catalogue's tables, all or the wanted ones, and what changed since this
        position.

        The binlog says which tables were changed while the catalogue was asked, also by two renames
        after which it shows the same as before. These are asked for again. Raises SourceUnreachable
        if one is changed each time.
        """
        names = {self._schemas.name(table) for table in wanted}
        changes = _Alterations({}, frozenset(), None)
        snapshot, after, again = None, self._start.binlog, set[TableId]()
        for _ in range(_ATTEMPTS):
            before = end_of_binlog(self._settings)
            passed = self._alterations(after, before)
            self._wait_until_visible(passed)
            again |= passed.tables.keys() & names if names else passed.tables.keys()
            if snapshot is None:
                snapshot = self._catalog.snapshot(wanted)
            elif again:
                snapshot = self._asked_again(snapshot, again)
            after = end_of_binlog(self._settings)
            while_asking = self._alterations(before, after)
            changes = changes.then(passed).then(while_asking)
            again = while_asking.tables.keys() & names if names else set(while_asking.tables)
            if not again:
                return snapshot, changes
        named = ", ".join(map(str, sorted(again)))
        raise SourceUnreachable(
            f"The definition of {named} was changed each time while the relay read it from "
            "the catalogue."
        )

    def _asked_again(self, before: CatalogSnapshot, tables: Collection[TableId]) -> CatalogSnapshot:
        """Return an earlier answer of the catalogue with some tables as they are now."""
        kept = before.tables.items()
        now = {table: each for table, each in kept if self._schemas.name(table) not in tables}
        return replace(before, tables={**now, **self._catalog.snapshot(tables).tables})

    def _alterations(self, after: BinlogPosition, until: BinlogPosition) -> _Alterations:
        """Return what the statements between two positions changed."""
        passing = FollowedTables(mariadb=self._schemas.mariadb)
        changed: dict[TableId, _Alteration] = {}
        databases: set[str] = set()
        gtids: list[str] = []
        held = self._start.gtid_set
        for statement, _, gtid in statements_between(self._settings, after, until, held):
            gtids.append(gtid)
            for table in passing.apply(statement, classify(statement)):
                name = self._schemas.name(table)
                earlier_too = name not in changed or changed[name].of_indexes
                of_indexes = passing.of(table) is None and not statement.failed and earlier_too
                if table.table:
                    changed[name] = _Alteration(statement.position, of_indexes)
                else:
                    databases.add(table.database)
        known = GtidSet.parse("").with_each(gtids) if all(gtids) else None
        return _Alterations(changed, frozenset(databases), known)

    def _wait_until_visible(self, passed: _Alterations) -> None:
        """Wait until the catalogue shows the statements: MySQL logs a statement before others see
        its effect.

        MariaDB's catalogue shows it, or waits for its lock. Without GTIDs MySQL is asked for the
        locks of the changed tables. Raises SourceUnreachable if the commit of a statement takes
        longer than the relay waits.
        """
        if self._schemas.mariadb:
            return
        if passed.gtids is None:
            visible = self._catalog.locks_end(passed.tables, VISIBLE_SECONDS)
        else:
            wanted = str(GtidSet.parse(self._start.gtid_set).with_all(passed.gtids))
            with closing(Visibility(self._settings)) as visibility:
                visible = not wanted or visibility.wait_for(self._start.binlog, wanted)
        if not visible:
            raise SourceUnreachable(
                "The source has logged statements whose effect its catalogue does not show "
                "yet. This happens while a commit waits for a semi-synchronous replica."
            )

    def _untold(self, table: TableId) -> Stop:
        reason = f"The columns of {table} after {self._start.binlog} are unknown"
        if self._catalog.may_describe(table):
            return SchemaMismatch(f"{reason}: the source no longer has the table.", remedy=_WAY_OUT)
        lacking = (
            f"the binlog has no names of columns, and the account {self._settings.user!r} has no "
            f"SELECT on the table"
        )
        return SourceNotPermitted(f"{reason}: {lacking}.")

    def _position(self, at: BinlogPosition) -> HistoryPosition:
        return HistoryPosition.of(self._start.identity, at.file, at.offset)


def _before(change: _Alteration, described: DescribedTable) -> Known:
    """A table before its last change: where it has a PRIMARY KEY and only other indexes were
    changed, its columns and key are known.
    """
    if change.of_indexes and described.primary_key:
        return replace(described, indexes=None)
    return _CHANGED.format(change.at)
