"""Finds the rows of the open source transaction that ROLLBACK TO SAVEPOINT, or a crash of the
server, undid.

The savepoints themselves are in `open_transaction`. The module does no I/O.
"""

from collections.abc import Iterable
from typing import Final, TypeAlias

from relay.errors import CorruptEvent, RelayError, RolledBackRows
from relay.model import event_types as types
from relay.model.change import Advance, RawItem, TransactionBegin, TransactionEnd, XaAction, XaStep
from relay.model.positions.position import BinlogPosition, SourceIdentity
from relay.source.events.binlog_event import BinlogEvent
from relay.source.events.open_transaction import DoubtfulSavepoint, OpenTransaction
from relay.source.events.query_event import Meaning, QueryEvent
from relay.source.events.unsupported_events import doubtful_savepoint, unreadable_savepoint

ExcludedRange: TypeAlias = tuple[str, int, int, int]
"""Row events that the source rolled back: (binlog file, begin of their transaction, first event,
event after the last one).

The events are counted from the begin of the transaction: an offset would not identify them, because
all events of a compressed transaction share one.
"""

_TO_THE_END: Final = 2**63 - 1


class RollbackFinder:
    """Opens and ends source transactions, and finds row events that the source rolled back.

    Row events in `excluded` are known as rolled back, and are left out. If a savepoint rollback
    undoes rows that were already returned, RolledBackRows is raised; the caller then reads the
    transaction again with the ranges of the error excluded. With a list `found`, nothing is raised:
    the ranges are appended to the list.
    """

    def __init__(
        self,
        *,
        mariadb: bool,
        identity: SourceIdentity,
        excluded: Iterable[ExcludedRange],
        found: list[ExcludedRange] | None,
    ) -> None:
        self.file = ""
        self.identity = identity
        self.mariadb = mariadb
        self.transaction: OpenTransaction | None = None
        self._excluded = tuple(excluded)
        self._excluded_here: tuple[tuple[int, int, int], ...] = ()
        self._found = found

    @property
    def plain(self) -> bool:
        """Return whether every row can be returned unchanged: no row of this file is excluded, and
        the open transaction is no XA transaction.
        """
        return not self._excluded_here and (self.transaction is None or not self.transaction.xid)

    def begin(self, start: int, gtid: str, stays_open: bool) -> OpenTransaction:
        """Open the transaction that begins at the offset `start` with the GTID `gtid` ("" without
        one).

        `stays_open`: only COMMIT, XID or ROLLBACK ends it, and no other statement.
        """
        self.transaction = OpenTransaction(start, gtid, stays_open)
        return self.transaction

    def _enter(self, file: str) -> None:
        """Continue in another binlog file."""
        self.file = file
        self._excluded_here = tuple(found[1:] for found in self._excluded if found[0] == file)

    def _begin(
        self, event: BinlogEvent, gtid: str, commit_time_ms: int | None, *, stays_open: bool
    ) -> Iterable[RawItem]:
        items = self._abandoned(event)
        self.begin(event.start, gtid, stays_open)
        return (
            *items,
            TransactionBegin(
                BinlogPosition(self.file, event.start), gtid, commit_time_ms, event.time_s
            ),
        )

    def _commit(self, event: BinlogEvent) -> Iterable[RawItem]:
        transaction = self._opened(event)
        self.transaction = None
        end = TransactionEnd(BinlogPosition(self.file, event.end), transaction.gtid, self.identity)
        if not transaction.xid:
            return (end,)
        return (
            XaStep(
                XaAction.COMMIT_AT_ONCE, transaction.xid, BinlogPosition(self.file, event.start)
            ),
            end,
        )

    def _abandoned(self, event: BinlogEvent) -> tuple[RawItem, ...]:
        """End a transaction that the server never finished, because it crashed while writing:
        its rows are dropped.
        """
        transaction = self.transaction
        if transaction is None:
            return ()
        if transaction.last_row:
            reason = (
                f"The source never finished the transaction that begins at "
                f"{self.file}:{transaction.begin}."
            )
            self._rolled_back(reason, transaction, 0, _TO_THE_END)
        self.transaction = None
        undone = (
            (
                XaStep(
                    XaAction.ROLLBACK, transaction.xid, BinlogPosition(self.file, transaction.begin)
                ),
            )
            if transaction.xid
            else ()
        )
        end = event.start if event.type_code != types.ROTATE else transaction.begin
        return (*undone, TransactionEnd(BinlogPosition(self.file, end), "", self.identity))

    def _savepoint(self, event: BinlogEvent, query: QueryEvent) -> None:
        transaction = self._opened(event)
        coordinates = f"{self.file}:{transaction.begin}"
        if query.meaning is Meaning.UNREADABLE:
            raise unreadable_savepoint(self._coordinates(event), query.text(), coordinates)
        try:
            if query.meaning is Meaning.SAVEPOINT:
                transaction.set_savepoint(query.name)
            elif query.meaning is Meaning.RELEASE:
                transaction.release(query.name)
            else:
                self._roll_back_to(event, query.name, transaction)
        except DoubtfulSavepoint as exc:
            raise doubtful_savepoint(
                self._coordinates(event), query.name, str(exc), coordinates
            ) from exc

    def _roll_back_to(self, event: BinlogEvent, name: str, transaction: OpenTransaction) -> None:
        before = transaction.rolled_back_to(name)
        if before is None:
            raise self._corrupt(
                event, f"rolls back to savepoint {name!r}, which its transaction did not set"
            )
        self._undo(event, before)

    def _undo(self, event: BinlogEvent, before: int) -> None:
        """Raise RolledBackRows, or append to `found`, for the rows after the first `before` row
        events.
        """
        transaction = self._opened(event)
        if transaction.last_row > before:
            reason = (
                f"Rows of the transaction that begins at {self.file}:{transaction.begin} were "
                f"rolled back at {self._coordinates(event)}."
            )
            self._rolled_back(reason, transaction, before, transaction.rows)

    def _rolled_back(self, reason: str, transaction: OpenTransaction, first: int, end: int) -> None:
        rows = (self.file, transaction.begin, first, end)
        if self._found is None:
            raise RolledBackRows(reason, (rows,))
        self._found.append(rows)
        transaction.last_row = first

    def _corrupt(self, event: BinlogEvent, what: str) -> RelayError:
        return CorruptEvent(
            f"The event of type {event.type_code} at {self._coordinates(event)} {what}."
        )

    def _opened(self, event: BinlogEvent) -> OpenTransaction:
        if self.transaction is None:
            raise self._corrupt(
                event,
                (
                    "is outside of any transaction; reading began inside one, or the binlog "
                    "is damaged"
                ),
            )
        return self.transaction

    def _advance(self, offset: int) -> Advance:
        return Advance(BinlogPosition(self.file, offset), self.identity)

    def _is_excluded(self, transaction: OpenTransaction) -> bool:
        """Return whether the newest row event was rolled back."""
        newest = transaction.rows - 1
        return any(
            begin == transaction.begin and first <= newest < end
            for begin, first, end in self._excluded_here
        )

    def _coordinates(self, event: BinlogEvent) -> str:
        return f"{self.file}:{event.start}"
