"""Prints whole events with the compiled printer, and decides which tables it can print."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final, NamedTuple, Protocol, TypeAlias

import orjson

from relay.compiled import COMPILED, ColumnPlan, Facts, Kind, slow_reason
from relay.decode import Malformed
from relay.encode import MessageFrame, RowsEncoder, has_longer_key
from relay.envelope import Header
from relay.errors import CorruptEvent, SchemaMismatch, ValueNotPrintable
from relay.model.change import Operation, RowsEvent
from relay.model.message import Headers, PrintedMessages, joined
from relay.model.positions.position import OrderPair
from relay.model.row_path import RowPath, SlowReason
from relay.model.table import TableDefinition, TableMap
from relay.partition import TablePartitioning
from relay.pipeline.messages.printing.printer_failures import printer_failed

if COMPILED:
    from relay.compiled import row_printer
    from relay.compiled.envelopes.envelope_printer import EnvelopePrinter
from relay.pipeline.messages.printing.printer_columns import columns_of, measures_of


class Printer(Protocol):
    """Prints the rows of one table's events; relay.compiled.row_printer.RowPrinter
    implements it.
    """

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
        """Return (rows of the event, messages, bytes of their values, block of messages), or why
        they cannot be printed. `body` is the event, whose row images begin at `start`. `update`: it
        has images before and after. `before_old` and `after_old` are the `framing_texts` of the
        encoder. `time` and `position` are the order key before the event. The first `skip` rows get
        no message. `largest` is the limit of a packed message in bytes; None: one message a row.
        """

    def print_copied(
        self, body: bytes, before_old: bytes, after_old: bytes, time: int, position: int, /
    ) -> tuple[int, int, int, bytes] | SlowReason:
        """Return the same tuple as `print_rows` for copied rows. `body` has only images of inserted
        rows, which share the order key `time` and `position`.
        """


class CountingPrinter(Printer, Protocol):
    """A Printer that can also count the rows of an event."""

    def count_rows(self, body: bytes, start: int, update: bool, /) -> int | None:
        """Return the number of rows of the event `body`; None if it is damaged. The other
        parameters are those of `print_rows`.
        """


PrinterMaker: TypeAlias = Callable[
    [Sequence[ColumnPlan], tuple[int, ...], bytes, tuple[int, ...], int, int], CountingPrinter
]
PRINTER: Final[PrinterMaker | None] = row_printer.RowPrinter if COMPILED else None
"""The compiled printer; None if this process has no compiled code."""
# Kinds whose text is the same in Canal's style, which partitioning hashes.
_HASHED_ALIKE: Final = frozenset(
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
"""Errors that printing a value raises by design.

The readable path then prints the event, or raises the same error. Any other exception is a bug.
"""


_NOTHING: Final[Mapping[Operation, tuple[int, int]]] = {}


class PrintedEvents(NamedTuple):
    """The messages of the first `events` events of a call, which have `rows` rows. `left` is why
    the next event was not printed; None if all were printed. `counted` holds by operation the
    number of rows without the skipped ones, and the bytes of their values.
    """

    events: int
    rows: int
    messages: PrintedMessages
    left: SlowReason | None = None
    counted: Mapping[Operation, tuple[int, int]] = _NOTHING


class EventPrinter:
    """Prints whole events of one table for one topic with the compiled printer. Events that it
    refuses must be printed by the readable path. With `largest_bytes` None each row is one message;
    otherwise rows of one partition share messages of at most that size.
    """

    __slots__ = ("_around", "_encoder", "_frame", "_largest_bytes", "_printer")
    path: ClassVar[RowPath] = RowPath.COMPILED

    def __init__(self, printer: Printer, encoder: RowsEncoder, largest_bytes: int | None) -> None:
        self._printer = printer
        self._encoder = encoder
        self._largest_bytes = largest_bytes
        self._frame: MessageFrame | None = (
            None  # of the last events; `_around` has the texts around `old` for it
        )
        self._around: dict[Operation, tuple[bytes, bytes]] = {}

    @property
    def of_whole_transactions(self) -> "row_printer.RowPrinter | None":
        """The compiled printer of the table, if it can also print whole transactions; None
        otherwise.
        """
        return (
            self._printer
            if COMPILED and isinstance(self._printer, row_printer.RowPrinter)
            else None
        )

    @property
    def largest_bytes(self) -> int | None:
        """The limit of a packed message in bytes; None: one message a row."""
        return self._largest_bytes

    def messages(
        self,
        events: Sequence[RowsEvent],
        frame: MessageFrame,
        before: OrderPair,
        skip: int,
        tail: Headers,
    ) -> PrintedEvents:
        """Print the events up to the first one that the printer refuses; return their messages. The
        order keys follow `before`. The first `skip` rows get no message. `frame` is the metadata of
        all events, and `tail` are the headers after the order header. Raises PrinterFailed if the
        printer raises an unexpected exception, which is a bug.
        """
        left: SlowReason | None = None
        rows = 0
        around = self._around_under(frame)
        parts: list[PrintedMessages] = []
        counted: dict[Operation, tuple[int, int]] = {}
        for event in events:
            operation = event.operation
            texts = around.get(operation) or around.setdefault(
                operation, self._encoder.framing_texts(operation, frame)
            )
            printed = self._print(
                event, texts, before.execute_time, before.execute_position + rows, skip - rows
            )
            if isinstance(printed, SlowReason):
                left = printed
                break
            count, number, value_bytes, block = printed
            rows_before, size_before = counted.get(operation, (0, 0))
            published = count if rows >= skip else max(0, rows + count - skip)
            counted[operation] = rows_before + published, size_before + value_bytes
            rows += count
            parts.append(PrintedMessages(number, value_bytes, block, ORDER_NAMES, tail))
        return PrintedEvents(
            len(parts),
            rows,
            joined(parts) if parts else PrintedMessages(0, 0, b"", ORDER_NAMES, tail),
            left,
            counted,
        )

    def _around_under(self, frame: MessageFrame) -> dict[Operation, tuple[bytes, bytes]]:
        if frame is not self._frame:
            self._frame, self._around = frame, {}
        return self._around

    def copied(
        self, body: bytes, frame: MessageFrame, order: OrderPair, tail: Headers
    ) -> PrintedMessages | None:
        """Print the row images of a copied table under one order key; return None if the readable
        path must print them. `tail` are the headers after the order header.
        """
        around = self._encoder.framing_texts(Operation.INSERT, frame)
        try:
            printed = self._printer.print_copied(
                body, *around, order.execute_time, order.execute_position
            )
        except REFUSED:
            return None
        if isinstance(printed, SlowReason):
            return None
        _, number, value_bytes, block = printed
        return PrintedMessages(number, value_bytes, block, ORDER_NAMES, tail)

    def _print(
        self, event: RowsEvent, texts: tuple[bytes, bytes], time: int, position: int, skip: int
    ) -> tuple[int, int, int, bytes] | SlowReason:
        if event.images_at is None:
            return SlowReason.PARTIAL_IMAGE
        update = event.operation is Operation.UPDATE
        undecodable = self._encoder.undecodable_values
        try:
            printed = self._printer.print_rows(
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
            printed = SlowReason.VALUE
        except MemoryError:
            raise
        except Exception as exc:
            raise printer_failed([event], f"the {self.path} printer", exc) from exc
        if isinstance(printed, SlowReason):
            self._encoder.undecodable_values = undecodable  # the readable path counts again
        return printed


def make_event_printer(
    definition: TableDefinition,
    key_prefix: tuple[str, ...],
    partitioning: TablePartitioning,
    encoder: RowsEncoder,
    largest_bytes: int | None = None,
    maker: PrinterMaker | None = PRINTER,
    *,
    lossless_keys: bool = True,
) -> EventPrinter | SlowReason:
    """Return the printer of a table in the exact style, or the reason why the table has none.

    key_prefix     the names at the beginning of each key
    largest_bytes  the limit of a packed message; None: one message a row
    maker          makes the compiled printer; None: there is no compiled code
    lossless_keys  tables and events with a key text that differs from the value's text are refused
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
        and all(plans[ordinal].kind in _HASHED_ALIKE for ordinal in partitioning.ordinals),
        compiled=maker is not None,
    )
    reason = slow_reason(facts)
    if reason is not None or maker is None:
        return reason or SlowReason.NOT_COMPILED
    key_head = orjson.dumps(list(key_prefix))[:-1]
    rest = partitioning.ordinals, partitioning.seed, partitioning.partitions
    if encoder.envelope is None:
        printer: Printer = maker(plans, definition.key, key_head, *rest)
    else:
        printer = EnvelopePrinter(plans, definition.key, key_head, *rest, *encoder.envelope.around)
    return EventPrinter(printer, encoder, largest_bytes)


class RowCount:
    """Counts the rows of filtered events of one table, if possible without reading their values."""

    def __init__(self, table: TableMap, maker: PrinterMaker | None = PRINTER) -> None:
        self._printer: CountingPrinter | None = None
        columns = [] if maker is None else measures_of(table)
        if maker is not None and columns:
            self._printer = maker(columns, (), b"", (), 0, 1)

    def of(self, event: RowsEvent) -> int:
        """Return the number of rows of an event. Raises the errors of decoding if the event is
        damaged.
        """
        if self._printer is None or event.images_at is None:
            return len(event.rows)
        count = self._printer.count_rows(
            event.body, event.images_at, event.operation is Operation.UPDATE
        )
        return len(event.rows) if count is None else count
