"""Prints small source transactions together with compiled code, which replaces the publisher's work
per item.
"""

from typing import Final, NamedTuple, TypeAlias

from relay.compiled import COMPILED
from relay.model.change import Operation, RowsEvent, StreamItem, TransactionBegin, TransactionEnd
from relay.model.message import PrintedMessages
from relay.model.positions.position import BinlogPosition, OrderPair
from relay.model.table import TableId, TableMap
from relay.order import compose
from relay.pipeline.messages.printing.event_printer import ORDER_NAMES, REFUSED, EventPrinter
from relay.pipeline.messages.printing.printer_failures import MOST_EVENTS_KEPT, printer_failed
from relay.pipeline.messages.table_plan import TablePlan
from relay.telemetry import Counted, TableCount

if COMPILED:
    from relay.compiled.transaction_printer import TransactionPrinter

MOST_TABLES: Final = 10_000
"""The largest number of tables whose plans are remembered. When it is reached, all are forgotten
and planned again.
"""

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
    list[tuple[TablePlan, int, int, int, bytes]],
    list[tuple[TableId, int, int, int, int]],
]
"""The result of the compiled printer: the fields of WholeTransactions, and the order key as two
numbers.

By table: the numbers of rows and messages, the bytes of the messages' values, and their block. By
logical table and index in `_OPERATIONS`: the rows, transactions and bytes of values.
"""
_OPERATIONS: Final = (Operation.INSERT, Operation.UPDATE, Operation.DELETE)


class PrintedTable(NamedTuple):
    """The messages of one table.

    plan      how the table is published
    rows      number of its rows
    messages  their messages
    """

    plan: TablePlan
    rows: int
    messages: PrintedMessages


class WholeTransactions(NamedTuple):
    """The result of printing several whole transactions.

    items         number of their items in the stream
    transactions  number of transactions
    rows          number of their rows
    event_bytes   size of their row events in the binlog
    order         order key of their last change
    last_begin    begin of the last transaction
    last_end      end of the last transaction
    gtids         GTIDs of the transactions
    printed       their messages by table
    counted       counts of published rows by logical table and operation
    """

    items: int
    transactions: int
    rows: int
    event_bytes: int
    order: OrderPair
    last_begin: TransactionBegin
    last_end: TransactionEnd
    gtids: list[str]
    printed: list[PrintedTable]
    counted: list[Counted]


class WholeTransactionPrinter:
    """Prints whole transactions if it has the plans of all their tables; others are published item
    by item. Used by one thread.

    `names_gtid`: messages contain the GTID.
    """

    def __init__(self, *, names_gtid: bool) -> None:
        self._names_gtid = names_gtid
        self._printer: TransactionPrinter[TablePlan] | None = (
            TransactionPrinter() if COMPILED else None
        )
        self._file = ("", -1, 0)
        self._plans: dict[int, TablePlan] = {}

    @property
    def able(self) -> bool:
        """Return whether this process has compiled code."""
        return self._printer is not None

    def know(self, table: TableMap, plan: TablePlan) -> None:
        """Store the plan of a table, so that its transactions can be printed.

        No effect if the plan has no compiled printer for whole transactions.
        """
        own = plan.printer
        if self._printer is None or not isinstance(own, EventPrinter):
            return
        printer = own.of_whole_transactions
        if printer is None:
            return
        if len(self._printer) >= MOST_TABLES:
            self.forget()
        parts = tuple(map(plan.rows.framing_text_parts, _OPERATIONS))
        logical = plan.destination.logical
        self._printer.know(table, plan, printer, own.largest_bytes, parts, logical)
        self._plans[id(plan)] = plan

    def forget(self) -> None:
        """Drop the stored plans of all tables, because plans have changed."""
        self._plans.clear()
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
        """Print the complete transactions that begin at the index `at` of `items`; return None if
        there are none to print.

        items       items of the stream
        at          index of the first item
        most_bytes  about how many bytes of the binlog are printed at most
        before      order key of the last change before the transactions
        epoch       epoch of the new order keys
        times_ms    the publishing time and the latest allowed execute_time, in Unix milliseconds
        batch       number of the batch

        Raises PrinterFailed if the printer raises an unexpected exception, which is a bug.
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
            self.take_back()
            return None
        except MemoryError:
            raise
        except Exception as exc:
            raise printer_failed(
                _events(items[at:]), "the compiled printer of whole transactions", exc
            ) from exc
        return None if found is None else _whole_transactions(found)

    def take_back(self) -> None:
        """Reset the counts of undecodable values, because the last transactions are
        printed again.
        """
        for plan in self._plans.values():
            plan.take_undecodable()


def _whole_transactions(found: _Printed) -> WholeTransactions:
    """Return the compiled printer's result, with its messages by table."""
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
        counted,
    ) = found
    return WholeTransactions(
        items,
        transactions,
        rows,
        event_bytes,
        OrderPair(time, position),
        last_begin,
        last_end,
        gtids,
        list(map(_table, printed)),
        list(map(_counted, counted)),
    )


def _table(found: tuple[TablePlan, int, int, int, bytes]) -> PrintedTable:
    plan, rows, number, value_bytes, block = found
    messages = PrintedMessages(number, value_bytes, block, ORDER_NAMES, plan.printed_headers)
    return PrintedTable(plan, rows, messages)


def _counted(found: tuple[TableId, int, int, int, int]) -> Counted:
    table, operation, *counts = found
    return table, _OPERATIONS[operation], TableCount(*counts)


def _events(items: list[StreamItem]) -> list[RowsEvent]:
    """The first row events, as many as a report keeps."""
    return [item for item in items if isinstance(item, RowsEvent)][:MOST_EVENTS_KEPT]
