"""The targets of the fuzzer: the steps from the socket to the printed message.

Each target feeds damaged bytes to its step. It returns a word for the result, or raises RelayError;
any other exception is a finding.
"""

import socket
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from random import Random
from typing import Final, cast

import orjson

from relay.decode import RowDecoder
from relay.encode import MessageFrame, RowEncoder
from relay.errors import RelayError, SourceUnreachable
from relay.model.change import RawItem, RawRows, RowsEvent
from relay.model.message import OutboundMessage
from relay.model.positions.position import OrderPair, SourceIdentity
from relay.model.row_path import SlowReason
from relay.model.table import ColumnType, TableId, TableMap
from relay.pipeline.ingest.compiled_events import event_scanner
from relay.pipeline.messages.printing.event_printer import (
    EventPrinter,
    RowCount,
    make_event_printer,
)
from relay.pipeline.messages.published_changes import EventContext
from relay.pipeline.messages.single_row import row_messages
from relay.pipeline.messages.table_plan import TablePlan
from relay.settings import MessageSettings
from relay.source.events.binlog_event import BinlogEvent
from relay.source.events.transaction_assembler import TransactionAssembler
from relay.source.protocol.binlog_reader import BinlogReader
from relay.source.protocol.packets import PacketReader
from tests.support.rows.table_plans import TOPIC, table_definition, table_plan
from tests.unit.source.binlog_bytes import description, event, packet, rotate, sent
from tools.fuzz.mutations import damaged
from tools.fuzz.seeds import Event, Transaction

_EVENT_BYTES: Final = 100
_FRAME: Final = MessageFrame(
    event_time_ms=1_700_000_000_000, gtid="0-1-7", batch=3, publish_time_ms=1_700_000_000_456
)
_BEFORE: Final = OrderPair(1_700_000_000_123, 77)
_LOGICAL: Final = TableId("shop", "orders")
_CONTEXT: Final = EventContext(_FRAME, None)
_SMALL_BUFFER_BYTES: Final = 600
_FRACTIONS: Final = frozenset({ColumnType.TIME2, ColumnType.DATETIME2, ColumnType.TIMESTAMP2})


class Sent(socket.socket):
    """A socket that returns these bytes and then the end of the connection."""

    def __init__(self, stream: bytes) -> None:
        self._stream = memoryview(stream)

    def recv_into(self, buffer: object, *_: int) -> int:
        """Copy the next bytes into the buffer; 0 at the end, as after a close."""
        into = cast("memoryview", buffer)
        piece = self._stream[: len(into)]
        into[: len(piece)] = piece
        self._stream = self._stream[len(piece) :]
        return len(piece)


def stream(transaction: Transaction, rng: Random) -> str:
    """Read a damaged stream of packets, with or without the compiled scanner.

    The damage is done before or after the checksums are computed.
    """
    whole = _packets(transaction, rng)
    scanner = event_scanner() if rng.random() < 0.7 else None
    assembler = TransactionAssembler(mariadb=transaction.mariadb, identity=SourceIdentity("", 1, 0))
    reader = BinlogReader(
        PacketReader(Sent(whole), "db:3306", rng.choice((_SMALL_BUFFER_BYTES, 1 << 20))), "db:3306"
    )
    items: list[RawItem] = []
    try:
        for each in reader.events():
            items += assembler.feed(each)
            while scanner is not None and (found := reader.scan(scanner, assembler)):
                items += found
    except SourceUnreachable:
        return _rows_of(items)
    return "none"


def _packets(transaction: Transaction, rng: Random) -> bytes:
    checksum = rng.random() < 0.8
    written = [rotate("binlog.000001"), description(checksum=checksum)]
    target = rng.randrange(len(transaction.events))
    for number, each in enumerate(transaction.events):
        body = damaged(each.body, rng) if number == target else each.body
        written.append(
            event(
                each.type_code,
                body,
                checksum=checksum,
                log_pos=rng.choice((0, 0, rng.getrandbits(32))),
            )
        )
    return (
        sent(written)
        if rng.random() < 0.5
        else b"".join(packet(damaged(b"\0" + each, rng)) for each in written)
    )


def events(transaction: Transaction, rng: Random, others: Sequence[Transaction]) -> str:
    """Assemble events with valid checksums. One of them is damaged, missing, of another type, or of
    another transaction.
    """
    fed = list(transaction.events)
    at = rng.randrange(len(fed))
    chosen = fed[at]
    match rng.randrange(8):
        case 0:
            fed[at] = Event(
                rng.choice((rng.randrange(256), rng.choice(transaction.events).type_code)),
                chosen.body,
            )
        case 1:
            fed.insert(at, rng.choice(rng.choice(others).events))
        case 2:
            del fed[at]
        case _:
            fed[at] = Event(
                chosen.type_code, damaged(chosen.body, rng, rng.choice(others).events[0].body)
            )
    return _rows_of(_assembled(fed, mariadb=transaction.mariadb))


def rows(raw: RawRows, rng: Random) -> str:
    """Decode a row event with damaged images, or, in a tenth of the calls, a damaged table map."""
    if rng.random() < 0.9:
        return decoded(raw._replace(body=raw.body[:8] + damaged(raw.body[8:], rng)))
    return decoded(raw._replace(table_map=damaged(raw.table_map, rng)))


def raw_rows_of(transaction: Transaction) -> list[RawRows]:
    """Return the undamaged row events of a transaction."""
    try:
        return [
            item
            for item in _assembled(transaction.events, mariadb=transaction.mariadb)
            if isinstance(item, RawRows)
        ]
    except RelayError:
        return []


def decoded(raw: RawRows) -> str:
    """Decode a row event, count its rows, and print it in both styles with each printer.

    Raises AssertionError if the results differ.
    """
    found = _DECODER.open(raw)
    printed = _print_events(found)
    counted = _count(found)
    rows = len(found.rows)
    assert counted == rows, f"{counted} rows were counted, {rows} decoded"
    definition = table_definition(found.table) if found.table.columns else None
    if definition is None or not rows:
        return "no rows"
    if found.table.unknown:  # without column names nothing is printed
        return "no names"
    RowEncoder(definition, _LOGICAL, "canal").encode(found.rows, _FRAME)
    plan = _plan(found.table)
    settings = MessageSettings(row_image="partial")
    readable = [
        each
        for _, messages in row_messages(found, plan, settings, _CONTEXT, _BEFORE, 0)
        for each in messages
    ]
    assert printed is not SlowReason.DAMAGED, (
        "the printer refused an event that the readable path prints"
    )
    if not isinstance(printed, SlowReason):
        assert _equal(found.table, printed, readable), (
            "the compiled printer and the readable packages differ"
        )
        return "printed"
    return "decoded"


_DECODER: Final = RowDecoder(tables_cached=500)


def _assembled(fed: Iterable[Event], *, mariadb: bool) -> list[RawItem]:
    assembler = TransactionAssembler(mariadb=mariadb, identity=SourceIdentity("", 1, 0))
    assembler.file = "binlog.000001"
    items: list[RawItem] = []
    for number, each in enumerate(fed):
        start = 4 + _EVENT_BYTES * number
        items += assembler.feed(
            BinlogEvent(
                each.type_code, 0, 1000, 7, start, start + _EVENT_BYTES, memoryview(each.body)
            )
        )
    return items


def _rows_of(items: Iterable[RawItem]) -> str:
    outcome = "items"
    for item in items:
        if isinstance(item, RawRows):
            outcome = decoded(item)
    return outcome


@lru_cache(maxsize=500)
def _plan(table: TableMap) -> TablePlan:
    return table_plan(table_definition(table), _LOGICAL, "orders", 7)


@lru_cache(maxsize=500)
def _event_printer(table: TableMap) -> EventPrinter | SlowReason:
    plan = _plan(table)
    return make_event_printer(
        plan.definition, (str(_LOGICAL),), plan.routes[0].partitioning, plan.rows
    )


@lru_cache(maxsize=500)
def _counter(table: TableMap) -> RowCount:
    return RowCount(table)


def _count(found: RowsEvent) -> int:
    try:
        return _counter(found.table).of(found)
    except RelayError:
        return len(found.rows)


def _equal(
    table: TableMap, printed: list[OutboundMessage], readable: list[OutboundMessage]
) -> bool:
    """Return whether the messages are equal.

    A fraction of an odd number of digits is stored with one more, which no server sets: what
    differs there alone prints the same, and only the printer, which compares bytes, then shows it
    in `old`.
    """
    if any(column.type in _FRACTIONS and column.length % 2 for column in table.columns):
        return list(map(_without_old, printed)) == list(map(_without_old, readable))
    return printed == readable


def _without_old(message: OutboundMessage) -> tuple[OutboundMessage, dict[str, object]]:
    value: dict[str, object] = orjson.loads(message.value or b"{}")
    value.pop("old", None)
    return replace(message, value=None), value


def _print_events(found: RowsEvent) -> list[OutboundMessage] | SlowReason:
    """Return the compiled printer's messages of the event, or why it prints none."""
    try:
        printer = _event_printer(found.table) if found.table.columns else SlowReason.COLUMN
    except RelayError:
        return SlowReason.COLUMN
    if isinstance(printer, SlowReason):
        return printer
    plan = _plan(found.table)
    done, _, printed, left, _ = printer.messages([found], _FRAME, _BEFORE, 0, plan.tags)
    return list(printed.each(TOPIC)) if done else left or SlowReason.VALUE
