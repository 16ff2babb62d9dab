"""The ways to know a source's tables where reading begins: from the history that is kept, or from the catalogue."""

from collections.abc import Collection
from dataclasses import replace
from typing import Final

import structlog

from relay.errors import BinlogPurged, SchemaMismatch
from relay.model.position import BinlogPosition, SourcePosition
from relay.model.table import TableId
from relay.schema import Base, CatalogReader, CatalogSnapshot, HistoryPlace, Schemas, TableHistory, Version, classify, folded, superseded
from relay.settings import SourceSettings
from relay.source import beginning_of_binlog, end_of_binlog, statements_between

_log = structlog.stdlib.get_logger(__name__)

_LOOKS: Final = 5
"""So often the catalogue is asked again for tables that were changed while it was asked."""
_CHANGED: Final = "it was changed at {}, and what it was before is not known"
_WAY_OUT: Final = (
    "Start the instance from a place behind the table's last change, or leave the table out by its filter until then and copy it anew; "
    "binlog_row_metadata=FULL on the source keeps names in the binlog from then on."
)


class NamesOpening:
    """The ways to know the tables at a place."""

    def __init__(
        self, settings: SourceSettings, catalog: CatalogReader, schemas: Schemas, start: SourcePosition, kept: list[Version | Base]
    ) -> None:
        self._settings = settings
        self._catalog = catalog
        self._schemas = schemas
        self._start = start
        self._here = HistoryPlace.of_position(start)
        self._kept = kept

    def continued(self, followed: SourcePosition | None) -> TableHistory | None:
        """From the history that is kept up to `followed`; None where it does not reach to this place."""
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
        """Another server is read from now on: what was known on the one before holds here."""
        if folded(self._kept, there, self._schemas) is None:
            return None
        history = TableHistory(self._schemas, self._start.identity)
        history.begin(self._here)
        return history

    def _caught_up(self, history: TableHistory, followed: SourcePosition) -> bool:
        """Follow what lies between the history's end and the place where reading begins; False where it is gone."""
        try:
            for statement, created_s in statements_between(self._settings, followed.binlog, self._start.binlog):
                history.at(replace(followed.identity, file_created_s=created_s))
                history.apply(statement)
        except BinlogPurged:
            return False
        return True

    def anew(self) -> TableHistory:
        """From the catalogue: tables that have changed since this place are known from their last change on."""
        snapshot, changed = self._described(())
        for name, charset in snapshot.databases.items():
            self._schemas.put_database(name, charset)
        later = []
        for table, described in snapshot.tables.items():
            at = changed.pop(self._schemas.name(table), None)
            self._schemas.put(table, described if at is None else _CHANGED.format(at))
            later += [Version(self._place(at), table, described)] if at is not None else []
        for table, at in changed.items():
            self._schemas.put(table, _CHANGED.format(at))
        _log.info("tables_described", tables=len(self._schemas), changed_since=len(later), at=str(self._start.binlog))
        history = TableHistory(self._schemas, self._start.identity, later)
        history.begin(self._here)
        return history

    def repair(self, history: TableHistory, doubtful: Collection[TableId]) -> None:
        """Let the catalogue say what these tables are from their last change on. Raises SchemaMismatch for one that is gone."""
        if not doubtful:
            return
        snapshot, changed = self._described(doubtful)
        for table in doubtful:
            described, at = snapshot.tables.get(table), changed.get(self._schemas.name(table))
            if described is None:
                reason = f"The columns of {table} behind {self._start.binlog} cannot be told: the source no longer has the table."
                raise SchemaMismatch(reason, remedy=_WAY_OUT)
            if at is None:
                history.keep(Version(self._here, table, described))
            else:
                history.expect([Version(self._place(at), table, described)])

    def superseded(self, followed: SourcePosition | None) -> list[bytes]:
        """The keys of records that no place asks for which the source still has, or from which the instance itself may go on."""
        ours = [self._here]
        if followed is not None and (there := HistoryPlace.of_position(followed)).server == self._here.server:
            ours.append(there)
        if not superseded(self._kept, min(ours)):
            return []
        try:
            ours.append(HistoryPlace.of_position(beginning_of_binlog(self._settings)))
        except BinlogPurged:
            return []  # the next opening will find what there is to take away
        gone = superseded(self._kept, min(ours))
        if gone:
            _log.info("table_versions_superseded", records=len(gone), kept=len(self._kept) - len(gone))
        return [record.key for record in gone]

    def _described(self, tables: Collection[TableId]) -> tuple[CatalogSnapshot, dict[TableId, BinlogPosition]]:
        """The catalogue's tables, and where each that was changed since this place was changed last."""
        changed: dict[TableId, BinlogPosition] = {}
        after = self._start.binlog
        for _ in range(_LOOKS):
            before = end_of_binlog(self._settings)
            snapshot = self._catalog.snapshot(tables)
            until = end_of_binlog(self._settings)
            changed |= self._changes(after, before)
            while_asking = self._changes(before, until)
            changed |= while_asking
            if not while_asking:
                break
            after = until
        return snapshot, changed

    def _changes(self, after: BinlogPosition, until: BinlogPosition) -> dict[TableId, BinlogPosition]:
        """Where the tables that statements between two places name were changed last."""
        passing = Schemas(mariadb=self._schemas.mariadb)
        return {
            self._schemas.name(table): statement.position
            for statement, _ in statements_between(self._settings, after, until)
            for table in passing.apply(statement, classify(statement))
            if table.table
        }

    def _place(self, at: BinlogPosition) -> HistoryPlace:
        return HistoryPlace.of(self._start.identity, at.file, at.offset)
