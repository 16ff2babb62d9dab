"""Groups binlog events into source transactions: begin, rows and statements, end.

The module does no I/O. A transaction begins with a GTID event, or with BEGIN if there are no GTIDs.
It ends with XID, COMMIT or ROLLBACK. A statement outside of a transaction (DDL) is itself a whole
transaction. Sources: MySQL manual, Binary Log Format; MariaDB, GTID_EVENT, FL_STANDALONE.
"""

import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from relay.errors import UnknownEvent
from relay.model import event_types as types
from relay.model.change import RawItem, RawRows, Statement, XaAction, XaStep
from relay.model.positions.position import BinlogPosition, SourceIdentity
from relay.source.events import xa
from relay.source.events.binlog_event import BinlogEvent
from relay.source.events.gtid_events import (
    MARIADB_PREPARED_XA,
    MARIADB_STANDALONE,
    mariadb_gtid,
    mysql_gtid,
    tagged_gtid,
)
from relay.source.events.query_event import Meaning, QueryEvent, is_plain_begin, read_query
from relay.source.events.rolled_back_rows import ExcludedRange, RollbackFinder
from relay.source.events.rows_event import closes_without_rows, plain_rows, table_number
from relay.source.events.transaction_payload import PayloadBroken, PayloadUnknown, payload_events
from relay.source.events.unsupported_events import (
    STOPPING_TYPES,
    stopping_event,
)

_BROKEN_BODY: Final = (struct.error, IndexError, ValueError, zlib.error)


class TransactionAssembler(RollbackFinder):
    """Converts events, which are given in the order of the binlog, into raw items."""

    def __init__(
        self,
        *,
        mariadb: bool,
        identity: SourceIdentity,
        excluded: Iterable[ExcludedRange] = (),
        found: list[ExcludedRange] | None = None,
    ) -> None:
        super().__init__(mariadb=mariadb, identity=identity, excluded=excluded, found=found)
        self._described = False
        self._rotated = True
        self._handlers = self._all_handlers()

    def feed(self, event: BinlogEvent) -> Iterable[RawItem]:
        """Return the items that the event completes. Consume them before the next call.

        Raises CorruptEvent, UnknownEvent, UnsupportedEvent or RolledBackRows; each names file and
        offset.
        """
        handler = self._handlers.get(event.type_code, self._unknown)
        try:
            return handler(event)
        except _BROKEN_BODY as exc:
            raise self._corrupt(event, f"cannot be read: {exc}") from exc

    def _all_handlers(self) -> dict[int, Callable[[BinlogEvent], Iterable[RawItem]]]:
        handlers: dict[int, Callable[[BinlogEvent], Iterable[RawItem]]] = dict.fromkeys(
            types.WITHOUT_CHANGES, _nothing
        )
        handlers.update(dict.fromkeys(types.ROWS, self._rows))
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
        items = self._abandoned(event)
        self._enter(bytes(event.body[8:]).decode("utf-8"))
        self._rotated = True
        return items

    def _format_description(self, event: BinlogEvent) -> Iterable[RawItem]:
        # The header's time is the file's creation; the body's field is zero in most files.
        self.identity = SourceIdentity(
            self.identity.server_uuid, self.identity.server_id, event.time_s
        )
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
        return (
            (*items, *self._xa_begins(event, gtid.xid))
            if gtid.flags & MARIADB_PREPARED_XA
            else items
        )

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
            raise self._corrupt(
                event,
                f"names table number {number}, which no table map of its transaction describes",
            )
        transaction.rows += 1
        if self._excluded_here and self._is_excluded(transaction):
            return ()
        transaction.last_row = transaction.rows
        return (
            RawRows(
                table_map,
                body,
                type_code,
                event.time_s,
                BinlogPosition(self.file, event.start),
                self.mariadb,
            ),
        )

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
                self._undo(event, 0)
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
        item = query.statement(event.time_s, BinlogPosition(self.file, event.start))
        if self.transaction is not None and self.transaction.stays_open:
            return (item,)
        return self._standalone(event, item)

    def _xa_statement(self, event: BinlogEvent, query: QueryEvent) -> Iterable[RawItem]:
        """XA START begins the group of rows (MySQL).

        COMMIT and ROLLBACK of prepared rows are separate transactions.
        """
        action, name = xa.statement(query.text())
        if action is XaAction.BEGIN:
            begin = (
                ()
                if self.transaction is not None
                else self._begin(event, "", None, stays_open=True)
            )
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
        """Return the items of a statement that is a whole transaction."""
        begin = (
            () if self.transaction is not None else self._begin(event, "", None, stays_open=False)
        )
        silent = self.transaction is not None and self.transaction.silent_statement
        return (*begin, *(() if silent else (item,)), *self._commit(event))

    # End

    def _payload(self, event: BinlogEvent) -> Iterator[RawItem]:
        try:
            for inner in payload_events(memoryview(event.body)):
                if inner.type_code in types.NEVER_IN_PAYLOAD:
                    raise PayloadBroken(f"it holds an event of type {inner.type_code}")
                yield from self.feed(
                    event._replace(
                        type_code=inner.type_code,
                        flags=inner.flags,
                        time_s=inner.time_s,
                        body=inner.body,
                    )
                )
        except PayloadUnknown as exc:
            raise UnknownEvent(
                f"The compressed transaction at {self._coordinates(event)} has {exc}."
            ) from exc
        except PayloadBroken as exc:
            raise self._corrupt(event, f"cannot be decompressed: {exc}") from exc
        if self.transaction is not None:
            raise self._corrupt(event, "holds a transaction without its end")

    # Stops

    def _unsupported(self, event: BinlogEvent) -> Iterable[RawItem]:
        raise stopping_event(event.type_code, self._coordinates(event))

    def _unknown(self, event: BinlogEvent) -> Iterable[RawItem]:
        if event.flags & types.IGNORABLE_FLAG:
            return ()
        raise UnknownEvent(
            f"The event at {self._coordinates(event)} is of type {event.type_code}, which "
            f"this relay does not know."
        )


def _nothing(_: BinlogEvent) -> Iterable[RawItem]:
    return ()
