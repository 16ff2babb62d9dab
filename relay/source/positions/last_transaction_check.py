"""Checks that the source's binlog still has the last published transaction at its position, and not
another one.

A server that was restored from an older copy and then accepted writes has the same identity, GTIDs
and file names. Only the contents of the transactions differ.
"""

from bisect import bisect_left
from typing import Final

from relay.errors import (
    BinlogPurged,
    CorruptEvent,
    HistoryChanged,
    RolledBackRows,
    SourceLostTransactions,
    SourceSettingsRefused,
)
from relay.model.change import TransactionBegin, TransactionEnd
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import (
    BinlogPosition,
    LastTransaction,
    SourcePosition,
    file_number,
)
from relay.model.records.last_transaction import MOST_CHANGES, change_bytes, changes_digest
from relay.settings import SourceSettings
from relay.source.events.rolled_back_rows import ExcludedRange
from relay.source.positions.binlog_probe import (
    FIRST_OFFSET,
    file_created_s,
    mariadb_list,
    mysql_gtids_of_earlier_files,
)
from relay.source.positions.binlog_range import items_between
from relay.source.protocol.server_facts import ServerFacts

_CHANGED: Final = "The server was restored from an older copy, or reset."
_UNPROVEN_REMEDY: Final = (
    "If the source was neither restored from an older copy nor reset meanwhile, nothing is "
    "missing: `roma position set --file {file} "
    "--offset 4`. Otherwise bring back the server that was read before, or make a new first copy."
)


class LastTransactionCheck:
    """Compares the last published transaction with the binlog of one server.

    `files` maps its binlog files to their sizes in bytes.
    """

    def __init__(
        self, settings: SourceSettings, server: ServerFacts, files: dict[str, int]
    ) -> None:
        self._settings = settings
        self._server = server
        self._files = files

    def in_place(self, last: LastTransaction) -> None:
        """Check the transaction `last` at its own coordinates; no effect if their file is purged.

        Raises HistoryChanged if another transaction is there.
        """
        if last.begin.file in self._files:
            self._compare(last, last.begin)

    def by_gtid(self, saved: SourcePosition, last: LastTransaction) -> None:
        """Find the transaction `last` by its GTID and check it. Call it if the file of the saved
        position is purged.

        Raises HistoryChanged if another transaction has its GTID, and BinlogPurged if the remaining
        binlog cannot prove that the history is the same.
        """
        oldest = next(iter(self._files))
        created_s = file_created_s(self._settings, self._server, oldest)
        if created_s < saved.identity.file_created_s:
            raise HistoryChanged(
                f"The source's oldest binlog file {oldest} was created at {created_s} (Unix "
                f"seconds). The position's file {saved.binlog.file}, which would precede it, "
                f"was created at {saved.identity.file_created_s}. {_CHANGED}"
            )
        names = list(self._files)
        after = bisect_left(names, True, key=lambda file: self._logged_before(last.gtid, file))
        if after:
            self._compare(last, BinlogPosition(names[after - 1], FIRST_OFFSET))
        elif not self._continues(saved, oldest):
            raise BinlogPurged(
                f"The position is {saved.binlog}, and the oldest binlog file of the source is "
                f"{oldest}. The last published transaction, "
                f"{last.gtid}, is purged: nothing that is left shows that the source has the "
                f"same history.",
                remedy=_UNPROVEN_REMEDY.format(file=oldest),
            )

    def _compare(self, last: LastTransaction, start: BinlogPosition) -> None:
        excluded: list[ExcludedRange] = []
        while True:
            try:
                same = self._is_same(last, start, excluded)
                break
            except RolledBackRows as exc:
                excluded.extend(exc.ranges)
            except (
                CorruptEvent,
                SourceLostTransactions,
                SourceSettingsRefused,
            ) as exc:  # the last: a length that is none
                raise HistoryChanged(
                    f"No transaction begins at {start} of the source: {exc.reason} {_CHANGED}"
                ) from exc
        if not same:
            raise HistoryChanged(
                f"The transaction {last.gtid or 'without a GTID'} at {start} of the source is "
                f"not the one that was published last, "
                f"from {last.begin}. {_CHANGED}"
            )

    def _is_same(
        self, last: LastTransaction, start: BinlogPosition, excluded: list[ExcludedRange]
    ) -> bool:
        """Read up to the transaction: the one that begins at `start` if that is its position,
        else the one of its GTID.
        """
        end = BinlogPosition(start.file, self._files[start.file])
        wanted, changes = False, list[bytes]()
        for item in items_between(self._settings, self._server, start, end, excluded):
            if isinstance(item, TransactionBegin):
                wanted, changes = item.gtid == last.gtid, []
                if start == last.begin and (not wanted or item.position != start):
                    return False
            elif wanted and isinstance(item, TransactionEnd):
                return changes_digest(changes) == last.digest
            elif (
                wanted
                and len(changes) < MOST_CHANGES
                and (change := change_bytes(item)) is not None
            ):
                changes.append(change)
                if len(changes) == MOST_CHANGES and changes_digest(changes) == last.digest:
                    return True  # if it differs, some of them may yet turn out to be rolled back
        return False

    def _logged_before(self, gtid: str, file: str) -> bool:
        """Return whether a transaction was logged before this file began."""
        if not self._server.mariadb:
            return mysql_gtids_of_earlier_files(self._settings, self._server, file).contains(gtid)
        state = mariadb_list(self._settings, self._server, file)
        return all(
            state.get((domain, server), 0) >= number
            for domain, (server, number) in GtidSet.parse(gtid).domains.items()
        )

    def _continues(self, saved: SourcePosition, oldest: str) -> bool:
        """Return whether the oldest file is the next one after the position's and begins exactly
        where the published set ends.
        """
        if file_number(oldest) != file_number(saved.binlog.file) + 1:
            return False
        published = GtidSet.parse(saved.gtid_set)
        if not self._server.mariadb:
            return mysql_gtids_of_earlier_files(self._settings, self._server, oldest) == published
        state = mariadb_list(self._settings, self._server, oldest)
        return {domain: (server, number) for (domain, server), number in state.items()} == dict(
            published.domains
        )
