"""Small source transactions, many at once: compiled code prints what the publisher would print item
by item.
"""

from typing import Final, NamedTuple, TypeAlias

from relay.compiled import COMPILED
from relay.model.change import Operation, RowsEvent, StreamItem, TransactionBegin, TransactionEnd
from relay.model.message import PrintedMessages
from relay.model.positions.position import BinlogPosition, OrderPair
from relay.model.table import TableMap
from relay.order import compose
from relay.pipeline.messages.printing.event_printer import ORDER_NAMES, REFUSED, EventPrinter
from relay.pipeline.messages.printing.printer_failures import MOST_EVENTS_KEPT, printer_failed
from relay.pipeline.messages.table_plan import TablePlan

if COMPILED:
    from relay.compiled.transaction_printer import TransactionPrinter

MOST_TABLES: Final = 10_000
"""More than these are not known at once; beyond them tables are met anew."""

_Printed: TypeAlias = tuple[
    int,
    int,
    int,
    int,
    int,
    int,
    TransactionBegin,
    TransactionEnd,
    list[str],
    list[tuple[TablePlan, int, int, bytes]],
]
"""What the compiled printer returns: the fields of WholeTransactions, the pair as two numbers, and
by table the number of messages, the bytes of their values, and their block.
"""
_OPERATIONS: Final = (Operation.INSERT, Operation.UPDATE, Operation.DELETE)


class WholeTransactions(NamedTuple):
    """Transactions that were taken together: `items` of the stream with `rows` in `event_bytes` of
    the binlog.

    `order` is the pair of their last change, `gtids` are their names, `printed` their messages by
    table.
    """

    items: int
    transactions: int
    rows: int
    event_bytes: int
    order: OrderPair
    last_begin: TransactionBegin
    last_end: TransactionEnd
    gtids: list[str]
    printed: list[tuple[TablePlan, PrintedMessages]]


class WholeTransactionPrinter:
    """Prints transactions of the tables that it knows; the publisher takes all others item by item.

    Used by one thread.
    """

    def __init__(self, *, names_gtid: bool) -> None:
        self._names_gtid = names_gtid
        self._printer: TransactionPrinter[TablePlan] | None = (
            TransactionPrinter() if COMPILED else None
        )
        self._file = ("", -1, 0)

    @property
    def able(self) -> bool:
        """Whether any can be printed here."""
        return self._printer is not None

    def know(self, table: TableMap, plan: TablePlan) -> None:
        """Take the transactions of this table from now on, if that can be."""
        printer = (
            plan.printer.of_whole_transactions if isinstance(plan.printer, EventPrinter) else None
        )
        if self._printer is None or printer is None:
            return
        if len(self._printer) >= MOST_TABLES:
            self._printer.forget()
        self._printer.know(table, plan, printer, tuple(map(plan.rows.around_frame, _OPERATIONS)))

    def forget(self) -> None:
        """Plans have changed."""
        if self._printer is not None:
            self._printer.forget()

    def take(
        self,
        items: list[StreamItem],
        at: int,
        most_bytes: int,
        before: OrderPair,
        epoch: int,
        times_ms: tuple[int, int],
        batch: int,
    ) -> WholeTransactions | None:
        """Return the transactions that stand whole from item `at` on, in up to about `most_bytes`
        of the binlog; None if there is none.

        `before` is the pair of the last change before them. `times_ms` are the time of publishing
        and the latest that a pair may have. Raises PrinterFailed for an exception that no event can
        cause.
        """
        begin = items[at]
        if self._printer is None or not isinstance(begin, TransactionBegin):
            return None
        publish_time_ms, latest_ms = times_ms
        file = begin.position.file
        if (file, epoch) != self._file[:2]:
            self._file = file, epoch, compose(epoch, BinlogPosition(file, 0))
        try:
            found = self._printer.print_transactions(
                items,
                at,
                most_bytes,
                file,
                self._file[2],
                *before,
                latest_ms,
                self._names_gtid,
                b"%d" % batch,
                b"%d" % publish_time_ms,
            )
        except REFUSED:
            return None
        except MemoryError:
            raise
        except Exception as exc:
            raise printer_failed(
                _events(items[at:]), "the compiled printer of whole transactions", exc
            ) from exc
        return None if found is None else _whole_transactions(found)


def _whole_transactions(found: _Printed) -> WholeTransactions:
    """Return what the compiled printer returned, with its messages by table."""
    (
        items,
        transactions,
        rows,
        event_bytes,
        time,
        position,
        last_begin,
        last_end,
        gtids,
        printed,
    ) = found
    messages = [
        (plan, PrintedMessages(number, size, block, ORDER_NAMES, plan.tags))
        for plan, number, size, block in printed
    ]
    return WholeTransactions(
        items,
        transactions,
        rows,
        event_bytes,
        OrderPair(time, position),
        last_begin,
        last_end,
        gtids,
        messages,
    )


def _events(items: list[StreamItem]) -> list[RowsEvent]:
    """The first row events, as many as a report keeps."""
    return [item for item in items if isinstance(item, RowsEvent)][:MOST_EVENTS_KEPT]
