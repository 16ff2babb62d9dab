"""Decides which tables the compiled printer can print, and describes their columns, keys and
partitioning to it.
"""

import struct
from collections.abc import Callable, Sequence
from typing import ClassVar, Final, NamedTuple, Protocol, TypeAlias

import orjson

from relay.charsets import byte_characters, is_utf8
from relay.compiled import COMPILED, ColumnPlan, Extra, Facts, Kind, slow_reason
from relay.decode import Fixed, Malformed, Prefixed, Storage, Unpacked, storage_of
from relay.encode import (
    MessageFrame,
    RowEncoder,
    exact_text,
    fixed_decimals,
    has_longer_key,
    named_bytes,
    refuse_undecodable,
)
from relay.envelope import Header
from relay.errors import CorruptEvent, SchemaMismatch, ValueNotPrintable
from relay.model.change import Operation, RowsEvent
from relay.model.column_families import FLOATS, INTEGERS
from relay.model.message import Headers, PrintedMessages, joined
from relay.model.positions.position import OrderPair
from relay.model.row_path import RowPath, SlowReason
from relay.model.table import Column, ColumnType, TableDefinition, TableMap
from relay.model.value import Value
from relay.partition import TablePlacement
from relay.pipeline.messages.printer_failures import printer_failed

if COMPILED:
    from relay.compiled import row_printer


class Printer(Protocol):
    """Prints the rows of one table's events, as relay.compiled.row_printer.RowPrinter does."""

    def print_rows(  # noqa: PLR0913 - called once for each event: a value that holds them would cost more
        self,
        body: bytes,
        start: int,
        update: bool,
        before_old: bytes,
        after_old: bytes,
        time: int,
        position: int,
        skip: int,
        largest: int | None,
        /,
    ) -> tuple[int, int, int, bytes] | SlowReason:
        """Return (rows of the event, messages, bytes of their values together, block of messages),
        or why not.
        """

    def count_rows(self, body: bytes, start: int, update: bool, /) -> int | None:
        """Return how many rows the event has, or None where it is damaged."""


PrinterMaker: TypeAlias = Callable[
    [Sequence[ColumnPlan], tuple[int, ...], bytes, tuple[int, ...], int, int], Printer
]

PRINTER: Final[PrinterMaker | None] = row_printer.RowPrinter if COMPILED else None
"""The compiled printer; None where this process has no compiled code."""


_PLAIN: Final = {
    ColumnType.DATE: Kind.DATE,
    ColumnType.NEWDATE: Kind.DATE,
    ColumnType.DATETIME2: Kind.DATETIME,
    ColumnType.TIMESTAMP2: Kind.TIMESTAMP,
    ColumnType.TIME2: Kind.TIME,
    ColumnType.YEAR: Kind.YEAR,
    ColumnType.BIT: Kind.BIT,
}
_FLOATING: Final = {ColumnType.FLOAT: Kind.FLOAT, ColumnType.DOUBLE: Kind.DOUBLE}
_LABELLED: Final = {ColumnType.ENUM: Kind.ENUM, ColumnType.SET: Kind.SET}
_BYTES: Final = frozenset({ColumnType.GEOMETRY, ColumnType.VECTOR})
_BLOBS: Final = frozenset(
    {ColumnType.TINY_BLOB, ColumnType.BLOB, ColumnType.MEDIUM_BLOB, ColumnType.LONG_BLOB}
)
_STRINGS: Final = _BLOBS | {ColumnType.VARCHAR, ColumnType.VAR_STRING, ColumnType.STRING}
# Equal for a reader when they print equal: 0.0 and the six digits of a FLOAT, JSON's parts in
# another order.
_BY_TEXT: Final = FLOATS | {ColumnType.JSON}
# Kinds whose text is the same in Canal's style, which placing hashes.
_PLACED: Final = frozenset(
    {
        Kind.SIGNED,
        Kind.UNSIGNED,
        Kind.DATE,
        Kind.DATETIME,
        Kind.TIMESTAMP,
        Kind.TIME,
        Kind.YEAR,
        Kind.UTF8,
        Kind.BIT,
    }
)
ORDER_NAMES: Final = (Header.ORDER.value, Header.ORDERS.value)
REFUSED: Final = (Malformed, CorruptEvent, SchemaMismatch, ValueNotPrintable)
"""What printing a value raises by design.

The readable path then prints the event, or raises the same. Any other exception is a bug.
"""


class PrintedEvents(NamedTuple):
    """Messages of the first `events` of some events, which have `rows` rows.

    `left` is why the printer stopped before the next event; None when it printed all of them.
    """

    events: int
    rows: int
    messages: PrintedMessages
    left: SlowReason | None = None


class EventPrinter:
    """Prints whole events of one table for one topic with the compiled printer.

    The readable path prints the events that it refuses. With `largest_bytes` None each row is one
    message; otherwise the rows of one partition share messages of at most so many bytes.
    """

    __slots__ = ("_around", "_encoder", "_frame", "_largest_bytes", "_printer")
    path: ClassVar[RowPath] = RowPath.COMPILED

    def __init__(self, printer: Printer, encoder: RowEncoder, largest_bytes: int | None) -> None:
        self._printer = printer
        self._encoder = encoder
        self._largest_bytes = largest_bytes
        self._frame: MessageFrame | None = (
            None  # of the last events, with what stands around `old` under it
        )
        self._around: dict[Operation, tuple[bytes, bytes]] = {}

    @property
    def of_whole_transactions(self) -> "row_printer.RowPrinter | None":
        """The printer where it can print whole transactions, too: with one message a row."""
        return (
            self._printer
            if COMPILED
            and self._largest_bytes is None
            and isinstance(self._printer, row_printer.RowPrinter)
            else None
        )

    def messages(
        self,
        events: Sequence[RowsEvent],
        frame: MessageFrame,
        before: OrderPair,
        skip: int,
        tail: Headers,
    ) -> PrintedEvents:
        """Print the events up to the first one that the printer refuses.

        Return the messages of the rows after the first `skip`.

        The events follow one another; the first order comes just after `before`. `tail` are the
        headers after the order. Raises PrinterFailed for an exception that no event can cause.
        """
        left: SlowReason | None = None
        rows = 0
        if frame is not self._frame:
            self._frame, self._around = frame, {}
        around = self._around
        parts: list[PrintedMessages] = []
        for event in events:
            operation = event.operation
            texts = around.get(operation) or around.setdefault(
                operation, self._encoder.around_old(operation, frame)
            )
            printed = self._print(
                event, texts, before.execute_time, before.execute_position + rows, skip - rows
            )
            if isinstance(printed, SlowReason):
                left = printed
                break
            count, number, value_bytes, block = printed
            rows += count
            parts.append(PrintedMessages(number, value_bytes, block, ORDER_NAMES, tail))
        return PrintedEvents(
            len(parts),
            rows,
            joined(parts) if parts else PrintedMessages(0, 0, b"", ORDER_NAMES, tail),
            left,
        )

    def _print(
        self, event: RowsEvent, texts: tuple[bytes, bytes], time: int, position: int, skip: int
    ) -> tuple[int, int, int, bytes] | SlowReason:
        if event.images_at is None:
            return SlowReason.PARTIAL_IMAGE
        update = event.operation is Operation.UPDATE
        try:
            return self._printer.print_rows(
                event.body,
                event.images_at,
                update,
                *texts,
                time,
                position,
                max(0, skip),
                self._largest_bytes,
            )
        except REFUSED:
            return SlowReason.VALUE
        except MemoryError:
            raise
        except Exception as exc:
            raise printer_failed([event], f"the {self.path} printer", exc) from exc


def make_event_printer(
    definition: TableDefinition,
    key_prefix: tuple[str, ...],
    placement: TablePlacement,
    encoder: RowEncoder,
    largest_bytes: int | None = None,
    maker: PrinterMaker | None = PRINTER,
    *,
    lossless_keys: bool = True,
) -> EventPrinter | SlowReason:
    """Return the printer of a table in the exact style, or why the table has none.

    `key_prefix` are the names that a key begins with; `largest_bytes` is None for one message a
    row, else the limit of a packed one. `lossless_keys`: tables and events with a key whose text is
    not that of the value are left to the readable path.
    """
    plans = (
        []
        if lossless_keys and has_longer_key(definition)
        else _columns(definition, encoder, lossless_keys=lossless_keys)
    )
    facts = Facts(
        system_versioned=definition.versions is not None,
        columns_known=bool(plans),
        placing_known=bool(plans)
        and all(plans[ordinal].kind in _PLACED for ordinal in placement.ordinals),
        compiled=maker is not None,
    )
    reason = slow_reason(facts)
    if reason is not None or maker is None:
        return reason or SlowReason.NOT_COMPILED
    key_head = orjson.dumps(list(key_prefix))[:-1]
    printer = maker(
        plans, definition.key, key_head, placement.ordinals, placement.seed, placement.partitions
    )
    return EventPrinter(printer, encoder, largest_bytes)


def _columns(
    definition: TableDefinition, encoder: RowEncoder, *, lossless_keys: bool
) -> list[ColumnPlan]:
    """Return what the printer reads of each column.

    Nothing where it cannot print one, or one is stored as no row is.

    With `lossless_keys` the printer refuses events with bytes that are no characters in a column of
    the key.
    """
    refusing = frozenset(definition.key if lossless_keys else ())
    plans: list[ColumnPlan] = []
    for ordinal, (column, text) in enumerate(
        zip(definition.map.columns, definition.type_texts, strict=True)
    ):
        try:
            undecodable = refuse_undecodable if ordinal in refusing else encoder.count_undecodable
            plan = _column(
                column,
                text,
                (b"," if ordinal else b"{") + orjson.dumps(column.name) + b":",
                undecodable,
            )
        except Malformed:
            return []
        if plan is None:
            return []
        plans.append(plan)
    return plans


class RowCount:
    """Counts the rows of events that nobody wants, of one table, without reading their values where
    that can be done.
    """

    def __init__(self, table: TableMap, maker: PrinterMaker | None = PRINTER) -> None:
        self._printer: Printer | None = None
        columns = [] if maker is None else _measures(table)
        if maker is not None and columns:
            self._printer = maker(columns, (), b"", (), 0, 1)

    def of(self, event: RowsEvent) -> int:
        """Return the number of rows; raises what decoding raises where the event is damaged."""
        if self._printer is None or event.images_at is None:
            return len(event.rows)
        count = self._printer.count_rows(
            event.body, event.images_at, event.operation is Operation.UPDATE
        )
        return len(event.rows) if count is None else count


def _measures(table: TableMap) -> list[ColumnPlan]:
    """What tells how long each value is.

    Nothing where a column is stored as no row is, and only images without it can be read.
    """
    try:
        return [
            ColumnPlan(
                Kind.OTHER, *_stored(storage_of(each)), each.nullable, False, 0, 0, b"", None
            )
            for each in table.columns
        ]
    except Malformed:
        return []


def _stored(storage: Storage) -> tuple[int, bool]:
    """The bytes of a fixed value, or of the length before one that varies; and whether it
    varies.
    """
    return (storage.prefix, True) if isinstance(storage, Prefixed) else (storage.width, False)


def _column(
    column: Column, type_text: str, name: bytes, undecodable: Callable[[], None]
) -> ColumnPlan | None:
    storage = storage_of(column)
    kind, digits, extra = _kind(column, type_text, storage, undecodable)
    if kind is None:
        return None
    return ColumnPlan(
        kind,
        *_stored(storage),
        column.nullable,
        column.type in _BY_TEXT,
        digits,
        column.scale,
        name,
        extra,
    )


def _kind(
    column: Column, type_text: str, storage: Storage, undecodable: Callable[[], None]
) -> tuple[Kind | None, int, Extra]:
    """The kind, its digits (fraction, precision, bits, labels or padded length) and what it prints
    from.
    """
    zero_filled = "zerofill" in type_text.lower()
    if column.type in INTEGERS and not zero_filled:
        return (Kind.UNSIGNED if column.unsigned else Kind.SIGNED), 0, None
    if column.type is ColumnType.NEWDECIMAL and not zero_filled:
        return Kind.DECIMAL, column.length, None
    if column.type in _PLAIN:
        return _PLAIN[column.type], column.length, None
    if column.type in _LABELLED and column.labels:
        return (
            _LABELLED[column.type],
            len(column.labels),
            tuple(orjson.dumps(label)[1:-1] for label in column.labels),
        )
    if column.type is ColumnType.JSON:
        return Kind.JSON, 0, _printed_by(storage, exact_text(column, type_text, undecodable))
    if column.type in _BYTES:
        return Kind.BASE64, 0, None
    if column.type in _STRINGS:
        return _string_kind(column, type_text, storage, undecodable)
    return _other(column, type_text, storage, undecodable)


def _string_kind(
    column: Column, type_text: str, storage: Storage, undecodable: Callable[[], None]
) -> tuple[Kind | None, int, Extra]:
    if named_bytes(column, type_text) is not None:
        return _other(column, type_text, storage, undecodable)
    if column.charset == "binary" or (column.charset is None and column.type in _BLOBS):
        return Kind.BASE64, (column.length if column.type is ColumnType.STRING else 0), None
    if column.charset is not None and is_utf8(column.charset):
        return Kind.UTF8, 0, None
    characters = byte_characters(column.charset or "")
    if characters is not None:
        return (
            Kind.TABLE,
            0,
            tuple(None if one is None else orjson.dumps(one)[1:-1] for one in characters),
        )
    return _other(column, type_text, storage, undecodable)


def _other(
    column: Column, type_text: str, storage: Storage, undecodable: Callable[[], None]
) -> tuple[Kind | None, int, Extra]:
    """Through the readable rooms, value by value.

    Compressed columns not at all, because equal values may differ in bytes.
    """
    if column.type in (ColumnType.BLOB_COMPRESSED, ColumnType.VARCHAR_COMPRESSED):
        return None, 0, None
    text = exact_text(column, type_text, undecodable)
    kind = (
        _FLOATING.get(column.type, Kind.OTHER) if fixed_decimals(type_text) is None else Kind.OTHER
    )
    return kind, 0, _printed_by(storage, text)


def _printed_by(storage: Storage, text: Callable[..., str]) -> Callable[[bytes], str]:
    match storage:
        case Unpacked(_, code):
            unpack = struct.Struct(code).unpack
            return lambda piece: text(unpack(piece)[0])
        case Fixed(_, read):
            return lambda piece: text(_value(lambda raw: read(raw, 0), piece))
        case Prefixed(_, None):
            return text
        case Prefixed(_, convert):
            return lambda piece: (
                text(_value(convert, piece)) if convert is not None else text(piece)
            )


def _value(read: Callable[[bytes], Value], piece: bytes) -> Value:
    """Return the value in a piece of an event. Raises Malformed where it holds none."""
    try:
        return read(piece)
    except (IndexError, struct.error) as exc:
        raise Malformed("it holds no such value, or ends too early") from exc
