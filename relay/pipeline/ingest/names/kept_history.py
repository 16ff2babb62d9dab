"""Reads the stored schema history of a source at the position where reading begins."""

from dataclasses import replace
from typing import Final

import structlog

from relay.errors import BinlogPurged
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import SourcePosition
from relay.schema import (
    Base,
    FollowedTables,
    HistoryPosition,
    TableHistory,
    Version,
    base_at,
    folded,
    later_bases,
    superseded,
)
from relay.settings import SourceSettings
from relay.source import beginning_of_binlog, binlog_file_created_s, statements_between

_FILE_START: Final = 4
"""The offset of a file's first event, where a switch by GTIDs begins to read."""

_log = structlog.stdlib.get_logger(__name__)


class KeptHistory:
    """The stored records of a schema history, used for reading from the position `start`."""

    def __init__(
        self,
        settings: SourceSettings,
        schemas: FollowedTables,
        start: SourcePosition,
        kept: list[Version | Base],
    ) -> None:
        self._settings = settings
        self._schemas = schemas
        self._start = start
        self._here = HistoryPosition.of_position(start)
        self._kept = kept

    def continued(self, followed: SourcePosition | None) -> TableHistory | None:
        """Return the stored history at the start position, with the records up to `followed`; None
        if it cannot be used there.

        `followed` is the position up to which the history was read; None: it was never read. If
        `followed` is on another server, a switch wrote the position record. The history up to
        `followed` then contains exactly the transactions before the start position.
        """
        if followed is None:
            return None
        there = HistoryPosition.of_position(followed)
        if there.server != self._here.server:
            return self._switched(there)
        if there != self._here and not self._in_one_history(followed, there):
            return None
        later = folded(self._kept, min(there, self._here), self._schemas)
        if later is None:
            return None
        history = TableHistory(self._schemas, followed.identity, later)
        if there < self._here and not self._caught_up(history, followed):
            return None
        history.at(self._start.identity)  # the stream names its file only after a transaction
        return history

    def _in_one_history(self, followed: SourcePosition, there: HistoryPosition) -> bool:
        """Return whether the history was followed through this position, or the binlog shows all
        that lies between.

        It does not if the server began its binlog again (RESET), if the history has another base
        after this position (between the two, another server was read), or if its base describes
        tables as they were after this position.
        """
        if (there > self._here) is not (followed.binlog.rank > self._start.binlog.rank):
            return False
        if any(each.position <= there for each in later_bases(self._kept, self._here)):
            return False
        if not self._describes_here(base_at(self._kept, min(there, self._here))):
            return False
        try:
            created_s = binlog_file_created_s(self._settings, followed.binlog.file)
        except BinlogPurged:
            return False
        return created_s == followed.identity.file_created_s

    def _describes_here(self, base: Base | None) -> bool:
        """Return whether every transaction that the base describes is before this position.

        A switch begins to read at the start of a file, and describes the tables after
        transactions that come later there: those of its GTID set.
        """
        if base is None:
            return False
        if base.held is None:  # of a former version: a switch's if it is at the start of a file
            is_in_its_file = base.position.file == self._here.file
            return base.position.offset != _FILE_START or not is_in_its_file
        return GtidSet.parse(self._start.gtid_set).contains(base.held)

    def _switched(self, there: HistoryPosition) -> TableHistory | None:
        """Return the former server's history, after a switch to another server."""
        if folded(self._kept, there, self._schemas) is None:
            return None
        history = TableHistory(self._schemas, self._start.identity)
        history.begin(self._here, self._start.gtid_set)
        return history

    def _caught_up(self, history: TableHistory, followed: SourcePosition) -> bool:
        """Follow the statements between the history's end and the start position.

        False if their binlog is purged.
        """
        try:
            for statement, created_s, _ in statements_between(
                self._settings, followed.binlog, self._start.binlog, followed.gtid_set
            ):
                history.at(replace(followed.identity, file_created_s=created_s))
                history.apply(statement)
        except BinlogPurged:
            return False
        return True

    def superseded(self, followed: SourcePosition | None) -> list[bytes]:
        """Return the keys of stored records that are no longer needed: neither by the instance nor
        for any position that the binlog still has.
        """
        ours = [self._here]
        if (
            followed is not None
            and (there := HistoryPosition.of_position(followed)).server == self._here.server
        ):
            ours.append(there)
        if not superseded(self._kept, min(ours)):
            return []
        try:
            ours.append(HistoryPosition.of_position(beginning_of_binlog(self._settings)))
        except BinlogPurged:
            return []  # the next opening will find what there is to take away
        gone = superseded(self._kept, min(ours))
        if gone:
            _log.info(
                "table_versions_superseded", records=len(gone), kept=len(self._kept) - len(gone)
            )
        return [record.key for record in gone]

    def passed_bases(self) -> list[bytes]:
        """Return the keys of the stored bases after the start position. They are invalid if the
        history begins again at that position.

        A base is a complete description of all tables at one position.
        """
        return [base.key for base in later_bases(self._kept, self._here)]
