"""The ways to know a source's tables where reading begins: from the history that is kept, or from
the catalogue.
"""

from collections.abc import Collection
from contextlib import closing
from dataclasses import replace
from typing import Final, NamedTuple

import structlog

from relay.errors import BinlogPurged, SchemaMismatch, SourceNotPermitted, SourceUnreachable, Stop
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import BinlogPosition, SourcePosition
from relay.model.table import TableId
from relay.schema import (
    Base,
    CatalogReader,
    CatalogSnapshot,
    DescribedTable,
    HistoryPlace,
    Known,
    Schemas,
    TableHistory,
    Version,
    classify,
    folded,
    superseded,
)
from relay.settings import SourceSettings
from relay.source import Visibility, beginning_of_binlog, end_of_binlog, statements_between

_log = structlog.stdlib.get_logger(__name__)

_LOOKS: Final = 5
"""So often the catalogue is asked again for tables that were changed while it was asked."""
_CHANGED: Final = "it was changed at {}, and its earlier definition is unknown"
_WAY_OUT: Final = (
    "Start the instance after the table's last change, or exclude the table by "
    "the filter until then and copy it again; "
    "binlog_row_metadata=FULL on the source keeps names in the binlog from then on."
)


class _Change(NamedTuple):
    """The last change of a table, and whether all its changes were of indexes."""

    at: BinlogPosition
    of_indexes: bool


class NamesOpening:
    """The ways to describe the tables at a position."""

    def __init__(
        self,
        settings: SourceSettings,
        catalog: CatalogReader,
        schemas: Schemas,
        start: SourcePosition,
        kept: list[Version | Base],
    ) -> None:
        self._settings = settings
        self._catalog = catalog
        self._schemas = schemas
        self._start = start
        self._here = HistoryPlace.of_position(start)
        self._kept = kept

    def continued(self, followed: SourcePosition | None) -> TableHistory | None:
        """Return the stored history up to `followed`; None if it does not reach this position."""
        if followed is None:
            return None
        there = HistoryPlace.of_position(followed)
        if there.server != self._here.server:
            return self._moved(there)
        later = folded(self._kept, min(there, self._here), self._schemas)
        if later is None:
            return None
        history = TableHistory(self._schemas, followed.identity, later)
        return history if there >= self._here or self._caught_up(history, followed) else None

    def _moved(self, there: HistoryPlace) -> TableHistory | None:
        """Return the former server's history, after a switch to another server."""
        if folded(self._kept, there, self._schemas) is None:
            return None
        history = TableHistory(self._schemas, self._start.identity)
        history.begin(self._here)
        return history

    def _caught_up(self, history: TableHistory, followed: SourcePosition) -> bool:
        """Follow the statements between the history's end and the start position.

        False if their binlog is purged.
        """
        try:
            for statement, created_s, _ in statements_between(
                self._settings, followed.binlog, self._start.binlog
            ):
                history.at(replace(followed.identity, file_created_s=created_s))
                history.apply(statement)
        except BinlogPurged:
            return False
        return True

    def anew(self) -> TableHistory:
        """Return a history from the catalogue: tables changed since this position are known from
        their last change on.
        """
        snapshot, changed = self._described(())
        for name, charset in snapshot.databases.items():
            self._schemas.put_database(name, charset)
        later = []
        for table, described in snapshot.tables.items():
            change = changed.pop(self._schemas.name(table), None)
            self._schemas.put(table, described if change is None else _before(change, described))
            later += (
                [Version(self._place(change.at), table, described)] if change is not None else []
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
        history.begin(self._here)
        return history

    def repair(self, history: TableHistory, doubtful: Collection[TableId]) -> None:
        """Describe these tables from the catalogue, valid from their last change on.

        Raises SchemaMismatch for a dropped table, and SourceNotPermitted for one that the account
        may not read.
        """
        if not doubtful:
            return
        snapshot, changed = self._described(doubtful)
        for table in doubtful:
            described, change = snapshot.tables.get(table), changed.get(self._schemas.name(table))
            if described is None:
                raise self._untold(table)
            if change is None:
                history.keep(Version(self._here, table, described))
            else:
                history.expect([Version(self._place(change.at), table, described)])

    def superseded(self, followed: SourcePosition | None) -> list[bytes]:
        """Return the keys of records that no remaining position of the source needs, nor the
        instance itself.
        """
        ours = [self._here]
        if (
            followed is not None
            and (there := HistoryPlace.of_position(followed)).server == self._here.server
        ):
            ours.append(there)
        if not superseded(self._kept, min(ours)):
            return []
        try:
            ours.append(HistoryPlace.of_position(beginning_of_binlog(self._settings)))
        except BinlogPurged:
            return []  # the next opening will find what there is to take away
        gone = superseded(self._kept, min(ours))
        if gone:
            _log.info(
                "table_versions_superseded", records=len(gone), kept=len(self._kept) - len(gone)
            )
        return [record.key for record in gone]

    def _described(
        self, tables: Collection[TableId]
    ) -> tuple[CatalogSnapshot, dict[TableId, _Change]]:
        """Return the catalogue's tables, and the last change of each table that changed since
        this position.
        """
        changed: dict[TableId, _Change] = {}
        after = self._start.binlog
        for _ in range(_LOOKS):
            before = end_of_binlog(self._settings)
            passed, gtids = self._changes(after, before)
            self._wait_until_visible(gtids)
            snapshot = self._catalog.snapshot(tables)
            until = end_of_binlog(self._settings)
            while_asking, _ = self._changes(before, until)
            for table, change in (*passed.items(), *while_asking.items()):
                earlier = changed.get(table)
                changed[table] = (
                    change
                    if earlier is None
                    else _Change(change.at, change.of_indexes and earlier.of_indexes)
                )
            if not while_asking:
                break
            after = until
        return snapshot, changed

    def _changes(
        self, after: BinlogPosition, until: BinlogPosition
    ) -> tuple[dict[TableId, _Change], GtidSet]:
        """Return the last change of each table in statements between two positions, and the
        statements' GTIDs.
        """
        passing = Schemas(mariadb=self._schemas.mariadb)
        changed: dict[TableId, _Change] = {}
        gtids: list[str] = []
        for statement, _, gtid in statements_between(self._settings, after, until):
            gtids += [gtid] if gtid else []
            for table in passing.apply(statement, classify(statement)):
                name = self._schemas.name(table)
                earlier_too = name not in changed or changed[name].of_indexes
                of_indexes = passing.of(table) is None and not statement.failed and earlier_too
                if table.table:
                    changed[name] = _Change(statement.position, of_indexes)
        return changed, GtidSet.parse("").with_each(gtids)

    def _wait_until_visible(self, gtids: GtidSet) -> None:
        """Wait until the catalogue shows the statements: MySQL logs a statement before others see
        its effect.

        MariaDB's catalogue shows it, or waits for its lock. Raises SourceUnreachable if the commit
        of a statement takes longer than the relay waits.
        """
        wanted = str(GtidSet.parse(self._start.gtid_set).with_all(gtids))
        if self._schemas.mariadb or not wanted:
            return
        with closing(Visibility(self._settings)) as visibility:
            if not visibility.wait_for(self._start.binlog, wanted):
                reason = (
                    "The source has logged statements that its catalogue does not show yet; a "
                    "commit that waits for a semi-synchronous "
                )
                raise SourceUnreachable(f"{reason}replica does that.")

    def _untold(self, table: TableId) -> Stop:
        reason = f"The columns of {table} after {self._start.binlog} are unknown"
        if self._catalog.may_describe(table):
            return SchemaMismatch(f"{reason}: the source no longer has the table.", remedy=_WAY_OUT)
        lacking = (
            f"the binlog has no names of columns, and the account {self._settings.user!r} has no "
            f"SELECT on the table"
        )
        return SourceNotPermitted(f"{reason}: {lacking}.")

    def _place(self, at: BinlogPosition) -> HistoryPlace:
        return HistoryPlace.of(self._start.identity, at.file, at.offset)


def _before(change: _Change, described: DescribedTable) -> Known:
    """A table before its last change: where it has a PRIMARY KEY and only other indexes were
    changed, its columns and key are known.
    """
    if change.of_indexes and described.primary_key:
        return replace(described, indexes=None)
    return _CHANGED.format(change.at)
