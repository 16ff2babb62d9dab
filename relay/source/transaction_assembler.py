"""Groups binlog events into source transactions, streaming: begin, rows and statements, end. No I/O.

Where a transaction begins and ends: a GTID event opens it, or BEGIN where there are no GTIDs; XID, COMMIT or ROLLBACK closes
it; a statement alone (DDL) is a transaction of its own (MySQL manual: Binary Log Format; MariaDB: GTID_EVENT, FL_STANDALONE).
"""

import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from relay.errors import CorruptEvent, RelayError, RolledBackRows, UnknownEvent
from relay.model.change import Advance, RawItem, RawRows, Statement, TransactionBegin, TransactionEnd, XaAction, XaStep
from relay.model.position import BinlogPosition, SourceIdentity
from relay.source import event_types as types
from relay.source import xa
from relay.source.binlog_event import BinlogEvent
from relay.source.gtid_events import (
    MARIADB_PREPARED_XA,
    MARIADB_STANDALONE,
    mariadb_gtid,
    mysql_gtid,
    tagged_gtid,
)
from relay.source.open_transaction import OpenTransaction
from relay.source.payload import PayloadBroken, PayloadUnknown, payload_events
from relay.source.query_event import Meaning, QueryEvent, is_plain_begin, read_query
from relay.source.rows_event import closes_without_rows, plain_rows, table_number
from relay.source.stops import STOPPING_TYPES, rollback_in_payload, stopping_event

ExcludedRange: TypeAlias = tuple[str, int, int]
"""A binlog file, and the offsets from and up to which its row events were rolled back on the source."""

_LAST_OFFSET: Final = 2**63 - 1
_BROKEN_BODY: Final = (struct.error, IndexError, ValueError, zlib.error)

# They carry no change: texts of statements, markers, context of statements in statement format (a file's blocks before the LOAD DATA that
# uses them), group replication's notes.
_PASSED_OVER: Final = (
    types.STOP, types.INTVAR, types.RAND, types.USER_VAR, types.IGNORABLE, types.ROWS_QUERY, types.PREVIOUS_GTIDS,
    types.TRANSACTION_CONTEXT, types.VIEW_CHANGE, types.MARIADB_ANNOTATE_ROWS, types.MARIADB_BINLOG_CHECKPOINT,
    types.MARIADB_GTID_LIST, types.MARIADB_START_ENCRYPTION, types.BEGIN_LOAD_QUERY, types.APPEND_BLOCK, types.DELETE_FILE,
)  # fmt: skip


class TransactionAssembler:
    """Turns events, fed in binlog order, into the items of the source room.

    `excluded` names row events that are known to be rolled back: they are left out. Rows whose roll-back only shows later
    raise RolledBackRows at that moment; the caller reads the transaction again with that range excluded.
    """

    def __init__(self, *, mariadb: bool, identity: SourceIdentity, excluded: Iterable[ExcludedRange] = ()) -> None:
        self.file = ""
        self.identity = identity
        self.mariadb = mariadb
        self._excluded = tuple(excluded)
        self._excluded_here: tuple[tuple[int, int], ...] = ()
        self._described = False
        self._rotated = True
        self._inside_payload = False
        self.transaction: OpenTransaction | None = None
        self._handlers = self._all_handlers()

    @property
    def inside_transaction(self) -> bool:
        return self.transaction is not None

    @property
    def plain(self) -> bool:
        """Whether every row counts, and counts at once: none of this file was rolled back, and none is being prepared."""
        return not self._excluded_here and (self.transaction is None or not self.transaction.xid)

    def begin(self, start: int, gtid: str, stays_open: bool) -> OpenTransaction:
        """Open the transaction that begins at this offset."""
        self.transaction = OpenTransaction(start, gtid, stays_open)
        return self.transaction

    def feed(self, event: BinlogEvent) -> Iterable[RawItem]:
        """The items that the event completes, to be consumed before the next event is fed.

        Raises CorruptEvent, UnknownEvent, UnsupportedEvent or RolledBackRows, each naming file and offset.
        """
        handler = self._handlers.get(event.type_code, self._unknown)
        try:
            return handler(event)
        except _BROKEN_BODY as exc:
            raise self._corrupt(event, f"cannot be read: {exc}") from exc

    def _all_handlers(self) -> dict[int, Callable[[BinlogEvent], Iterable[RawItem]]]:
        handlers: dict[int, Callable[[BinlogEvent], Iterable[RawItem]]] = dict.fromkeys(_PASSED_OVER, _nothing)
        rows = (types.WRITE_ROWS, types.UPDATE_ROWS, types.DELETE_ROWS, types.WRITE_ROWS_V1, types.UPDATE_ROWS_V1, types.DELETE_ROWS_V1)
        handlers.update(dict.fromkeys((*rows, types.PARTIAL_UPDATE_ROWS), self._rows))
        compressed = (*types.MARIADB_COMPRESSED_ROWS_V1, *types.MARIADB_COMPRESSED_ROWS)
        handlers.update(dict.fromkeys(compressed, self._compressed_rows))
        handlers.update(dict.fromkeys(STOPPING_TYPES, self._unsupported))
        return handlers | {
            types.ROTATE: self._rotate,
            types.FORMAT_DESCRIPTION: self._format_description,
            types.HEARTBEAT: self._heartbeat,
            types.HEARTBEAT_V2: self._heartbeat,
            types.GTID: self._gtid,
            types.ANONYMOUS_GTID: self._gtid,
            types.GTID_TAGGED: self._gtid,
            types.MARIADB_GTID: self._mariadb_gtid,
            types.QUERY: self._query,
            types.MARIADB_QUERY_COMPRESSED: self._query,
            types.TABLE_MAP: self._table_map,
            types.XID: self._commit,
            types.XA_PREPARE: self._xa_prepare,
            types.TRANSACTION_PAYLOAD: self._payload,
        }

    # The file

    def _rotate(self, event: BinlogEvent) -> Iterable[RawItem]:
        items = self._abandoned(_LAST_OFFSET, event)
        self.file = bytes(event.body[8:]).decode("utf-8")
        self._rotated = True
        self._excluded_here = tuple((low, high) for file, low, high in self._excluded if file == self.file)
        return items

    def _format_description(self, event: BinlogEvent) -> Iterable[RawItem]:
        # The header's time is the file's creation; the body's field is zero in most files.
        self.identity = SourceIdentity(self.identity.server_uuid, self.identity.server_id, event.time_s)
        first, self._described, self._rotated = not self._described, True, False
        if first or not event.end:
            return ()
        return (self._advance(event.end),)

    def _heartbeat(self, event: BinlogEvent) -> Iterable[RawItem]:
        if self.transaction is not None or self._rotated:
            return ()
        return (self._advance(event.end),)

    # Begin

    def _gtid(self, event: BinlogEvent) -> Iterable[RawItem]:
        if event.type_code == types.GTID_TAGGED:
            text, commit_time_ms = tagged_gtid(event.body)
        else:
            text, commit_time_ms = mysql_gtid(event.body)
        if event.type_code == types.ANONYMOUS_GTID:
            text = ""
        return self._begin(event, text, commit_time_ms, stays_open=False)

    def _mariadb_gtid(self, event: BinlogEvent) -> Iterable[RawItem]:
        gtid = mariadb_gtid(event.body, event.server_id)
        items = self._begin(event, gtid.text, None, stays_open=not gtid.flags & MARIADB_STANDALONE)
        if self.transaction is not None:
            self.transaction.silent_statement = gtid.halved_alter
        return (*items, *self._xa_begins(event, gtid.xid)) if gtid.flags & MARIADB_PREPARED_XA else items

    def _begin(self, event: BinlogEvent, gtid: str, commit_time_ms: int | None, *, stays_open: bool) -> Iterable[RawItem]:
        items = self._abandoned(event.start, event)
        self.begin(event.start, gtid, stays_open)
        return (*items, TransactionBegin(BinlogPosition(self.file, event.start), gtid, commit_time_ms, event.time_s))

    # Inside

    def _table_map(self, event: BinlogEvent) -> Iterable[RawItem]:
        transaction = self._opened(event)
        transaction.tables[table_number(event.body)] = bytes(event.body)
        return ()

    def _rows(self, event: BinlogEvent) -> Iterable[RawItem]:
        return self._plain_rows(event, bytes(event.body), event.type_code)

    def _compressed_rows(self, event: BinlogEvent) -> Iterable[RawItem]:
        body, type_code = plain_rows(event.body, event.type_code)
        return self._plain_rows(event, body, type_code)

    def _plain_rows(self, event: BinlogEvent, body: bytes, type_code: int) -> Iterable[RawItem]:
        transaction = self._opened(event)
        number = table_number(event.body)
        table_map = transaction.tables.get(number)
        if table_map is None:
            if closes_without_rows(number):
                return ()
            raise self._corrupt(event, f"names table number {number}, which no table map of its transaction describes")
        if self._excluded_here and self._is_excluded(event.start):
            return ()
        transaction.last_row = event.start
        return (RawRows(table_map, body, type_code, event.time_s, BinlogPosition(self.file, event.start), self.mariadb),)

    def _query(self, event: BinlogEvent) -> Iterable[RawItem]:
        if event.type_code == types.QUERY and is_plain_begin(event.body):
            return self._begin_statement(event)
        query = read_query(event.body, compressed=event.type_code == types.MARIADB_QUERY_COMPRESSED)
        match query.meaning:
            case Meaning.BEGIN:
                return self._begin_statement(event)
            case Meaning.COMMIT:
                return self._commit(event)
            case Meaning.ROLLBACK:
                self._undo(event, self._opened(event).begin)
                return self._commit(event)
            case Meaning.XA:
                return self._xa_statement(event, query)
            case Meaning.STATEMENT | Meaning.ATOMIC_CREATE:
                return self._statement(event, query)
            case _:
                self._savepoint(event, query)
                return ()

    def _begin_statement(self, event: BinlogEvent) -> Iterable[RawItem]:
        if self.transaction is None:
            return self._begin(event, "", None, stays_open=True)
        self.transaction.stays_open = True
        return ()

    def _statement(self, event: BinlogEvent, query: QueryEvent) -> Iterable[RawItem]:
        if query.meaning is Meaning.ATOMIC_CREATE and self.transaction is not None:
            self.transaction.stays_open = True
        item = Statement(query.text(), query.database, event.time_s, BinlogPosition(self.file, event.start))
        if self.transaction is not None and self.transaction.stays_open:
            return (item,)
        return self._standalone(event, item)

    def _xa_statement(self, event: BinlogEvent, query: QueryEvent) -> Iterable[RawItem]:
        """XA START opens the group of rows (MySQL); COMMIT and ROLLBACK of what was prepared are transactions by themselves."""
        action, name = xa.statement(query.text())
        if action is XaAction.BEGIN:
            begin = () if self.transaction is not None else self._begin(event, "", None, stays_open=True)
            return (*begin, *self._xa_begins(event, name))
        if action is None:
            return ()
        return self._standalone(event, XaStep(action, name, BinlogPosition(self.file, event.start)))

    def _xa_begins(self, event: BinlogEvent, name: str) -> Iterable[RawItem]:
        transaction = self._opened(event)
        transaction.stays_open, transaction.xid = True, name
        return (XaStep(XaAction.BEGIN, name, BinlogPosition(self.file, event.start)),)

    def _xa_prepare(self, event: BinlogEvent) -> Iterable[RawItem]:
        action, name = xa.prepared(event.body)
        self._opened(event).xid = ""
        return (XaStep(action, name, BinlogPosition(self.file, event.start)), *self._commit(event))

    def _standalone(self, event: BinlogEvent, item: Statement | XaStep) -> Iterable[RawItem]:
        """A statement that is a transaction by itself."""
        begin = () if self.transaction is not None else self._begin(event, "", None, stays_open=False)
        silent = self.transaction is not None and self.transaction.silent_statement
        return (*begin, *(() if silent else (item,)), *self._commit(event))

    def _savepoint(self, event: BinlogEvent, query: QueryEvent) -> None:
        transaction = self._opened(event)
        if query.meaning is Meaning.SAVEPOINT:
            transaction.set_savepoint(query.name, event.start)
        elif query.meaning is Meaning.RELEASE:
            transaction.release(query.name)
        else:
            offset = transaction.rolled_back_to(query.name)
            if offset is None:
                raise self._corrupt(event, f"rolls back to savepoint {query.name!r}, which its transaction did not set")
            self._undo(event, offset)

    def _undo(self, event: BinlogEvent, from_offset: int) -> None:
        """Rows handed out since `from_offset` never happened: have the transaction read again without them."""
        transaction = self._opened(event)
        if transaction.last_row < from_offset:
            return
        if self._inside_payload:
            raise rollback_in_payload(self._place(event))
        reason = f"Rows of the transaction that begins at {self.file}:{transaction.begin} were rolled back at {self._place(event)}."
        raise RolledBackRows(reason, file=self.file, from_offset=from_offset, to_offset=event.start)

    # End

    def _commit(self, event: BinlogEvent) -> Iterable[RawItem]:
        transaction = self._opened(event)
        self.transaction = None
        end = TransactionEnd(BinlogPosition(self.file, event.end), transaction.gtid, self.identity)
        if not transaction.xid:
            return (end,)
        return (XaStep(XaAction.COMMIT_AT_ONCE, transaction.xid, BinlogPosition(self.file, event.start)), end)

    def _abandoned(self, to_offset: int, event: BinlogEvent) -> tuple[RawItem, ...]:
        """A transaction that the server never finished (it died while writing): nothing of it happened."""
        transaction = self.transaction
        if transaction is None:
            return ()
        if transaction.last_row >= transaction.begin:
            reason = f"The source never finished the transaction that begins at {self.file}:{transaction.begin}."
            raise RolledBackRows(reason, file=self.file, from_offset=transaction.begin, to_offset=to_offset)
        self.transaction = None
        undone = (XaStep(XaAction.ROLLBACK, transaction.xid, BinlogPosition(self.file, transaction.begin)),) if transaction.xid else ()
        end = event.start if event.type_code != types.ROTATE else transaction.begin
        return (*undone, TransactionEnd(BinlogPosition(self.file, end), "", self.identity))

    def _payload(self, event: BinlogEvent) -> Iterator[RawItem]:
        self._inside_payload = True
        try:
            for inner in payload_events(memoryview(event.body)):
                if inner.type_code in types.NEVER_IN_PAYLOAD:
                    raise PayloadBroken(f"it holds an event of type {inner.type_code}")
                yield from self.feed(event._replace(type_code=inner.type_code, flags=inner.flags, time_s=inner.time_s, body=inner.body))
        except PayloadUnknown as exc:
            raise UnknownEvent(f"The compressed transaction at {self._place(event)} has {exc}.") from exc
        except PayloadBroken as exc:
            raise self._corrupt(event, f"cannot be decompressed: {exc}") from exc
        finally:
            self._inside_payload = False
        if self.transaction is not None:
            raise self._corrupt(event, "holds a transaction without its end")

    # Stops

    def _unsupported(self, event: BinlogEvent) -> Iterable[RawItem]:
        raise stopping_event(event.type_code, self._place(event))

    def _unknown(self, event: BinlogEvent) -> Iterable[RawItem]:
        if event.flags & types.IGNORABLE_FLAG:
            return ()
        raise UnknownEvent(f"The event at {self._place(event)} is of type {event.type_code}, which this relay does not know.")

    def _corrupt(self, event: BinlogEvent, what: str) -> RelayError:
        return CorruptEvent(f"The event of type {event.type_code} at {self._place(event)} {what}.")

    # Small things

    def _opened(self, event: BinlogEvent) -> OpenTransaction:
        if self.transaction is None:
            raise self._corrupt(event, "stands outside of any transaction; reading began inside one, or the binlog is damaged")
        return self.transaction

    def _advance(self, offset: int) -> Advance:
        return Advance(BinlogPosition(self.file, offset), self.identity)

    def _is_excluded(self, offset: int) -> bool:
        return any(low <= offset < high for low, high in self._excluded_here)

    def _place(self, event: BinlogEvent) -> str:
        return f"{self.file}:{event.start}"


def _nothing(_: BinlogEvent) -> Iterable[RawItem]:
    return ()
