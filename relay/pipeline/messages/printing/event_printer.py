"""Prints whole events with the compiled printer, and decides which tables it can print."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Final, NamedTuple, Protocol, TypeAlias

import orjson

from relay.compiled import COMPILED, ColumnPlan, Facts, Kind, slow_reason
from relay.decode import Malformed
from relay.encode import MessageFrame, RowEncoder, has_longer_key
from relay.envelope import Header
from relay.errors import CorruptEvent, SchemaMismatch, ValueNotPrintable
from relay.model.change import Operation, RowsEvent
from relay.model.message import Headers, PrintedMessages, joined
from relay.model.positions.position import OrderPair
from relay.model.row_path import RowPath, SlowReason
from relay.model.table import TableDefinition, TableMap
from relay.partition import TablePlacement
from relay.pipeline.messages.printing.printer_failures import printer_failed

if COMPILED:
    from relay.compiled import row_printer
from relay.pipeline.messages.printing.printer_columns import columns_of, measures_of


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
        else columns_of(definition, encoder, lossless_keys=lossless_keys)
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


class RowCount:
    """Counts the rows of events that nobody wants, of one table, without reading their values where
    that can be done.
    """

    def __init__(self, table: TableMap, maker: PrinterMaker | None = PRINTER) -> None:
        self._printer: Printer | None = None
        columns = [] if maker is None else measures_of(table)
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
