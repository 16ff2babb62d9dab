"""The checkpoint of an instance that also publishes BEGIN and END messages of source transactions
to a separate topic (ADR 72).
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from relay.encode import Membership, RowNumber
from relay.encode.report_encoder import ReportedTransaction, encode_begin, encode_end, report_key
from relay.envelope import Header, row_orders
from relay.model.change import TransactionBegin, TransactionEnd
from relay.model.message import OutboundMessage, PrintedMessages
from relay.model.positions.position import OrderPair
from relay.model.records.transaction_report import TransactionReport, transaction_id
from relay.model.table import TableId
from relay.pipeline.checkpoint.checkpoint import Checkpoint
from relay.pipeline.checkpoint.part_guard import PartGuard
from relay.pipeline.checkpoint.position_message import PositionMessages
from relay.pipeline.checkpoint.progress import Progress
from relay.pipeline.checkpoint.skip_audit import SkipAudit
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.pipeline.delivery.outbox import Outbox
from relay.settings import InstanceSettings

_OF_A_ROW: Final = Header.TRANSACTION.value


class _Target(NamedTuple):
    """The logical table of the next rows, and the first of its topics: only rows there are
    counted, so that a row in several topics counts once.
    """

    table: TableId
    topic: str


class _Published:
    """The published rows of the open transaction: by logical table, and their order keys."""

    __slots__ = ("counts", "first", "last", "number")

    def __init__(
        self, first: OrderPair, last: OrderPair, counts: Iterable[tuple[TableId, int]]
    ) -> None:
        self.first, self.last = first, last
        self.counts = Counter(dict(counts))
        self.number = self.counts.total()

    @classmethod
    def before(cls, report: TransactionReport) -> "_Published":
        """Return the counts of the parts that were published before, from the report in the
        position record.
        """
        return cls(report.first, report.last, report.by_table())

    def add(self, table: TableId, rows: int, first: OrderPair, last: OrderPair) -> None:
        """Count rows of a logical table; `first` and `last` are the order keys of the first and the
        last row.
        """
        self.counts[table] += rows
        self.number += rows
        self.first, self.last = min(self.first, first), max(self.last, last)

    def report(self, id_: str) -> TransactionReport:
        """Return the counts in the form of the position record and the END message. `id_` is the id
        of the transaction.
        """
        return TransactionReport.of(id_, self.first, self.last, self.counts)


class ReportingCheckpoint(Checkpoint):
    """A checkpoint that also publishes a BEGIN and an END message for each source transaction with
    published rows.

    A transaction without a published row gets neither. For a transaction in parts, the position
    record holds the counts of the published parts.
    """

    def __init__(
        self,
        outbox: Outbox,
        progress: Progress,
        position: PositionMessages,
        parts: PartGuard,
        skip_audit: SkipAudit,
        stats: InstanceStats,
        instance: InstanceSettings,
    ) -> None:
        super().__init__(outbox, progress, position, parts, skip_audit, stats, instance.transaction)
        self._instance = instance.name
        self._topic = instance.transaction_topic or ""
        self._packs = instance.message.rows_per_message == "event"
        self._transaction: ReportedTransaction | None = None
        self._published: _Published | None = None
        self._target = _Target(TableId("", ""), "")
        self._last_order = b""
        self._numbered: OrderPair | None = None
        self._ahead = 0
        self.membership = Membership("", 0)
        """The transaction fields in the headers of the open transaction's rows."""

    def open_transaction(self, begin: TransactionBegin) -> None:
        """Begin a source transaction, or continue one whose first parts are published.

        Raises the errors of `Checkpoint.open_transaction`.
        """
        super().open_transaction(begin)
        progress = self._progress
        report = None if progress.split is None else progress.split.report
        self._published = None if report is None else _Published.before(report)
        before, name = progress.order, begin.gtid or str(begin.position)
        id_ = (
            transaction_id(self._instance, progress.following, name, before)
            if report is None
            else report.id
        )
        self.membership = Membership(id_, before.execute_position)
        self._transaction = ReportedTransaction(
            id_,
            self._instance,
            progress.following,
            progress.record.source.identity.server_id,
            begin,
            before.execute_time,
        )

    def close_transaction(self, end: TransactionEnd) -> None:
        """End the open source transaction, with its END message if it has a published row."""
        if self._published is not None and self._transaction is not None:
            report = self._published.report(self._transaction.id)
            self._add_report(
                encode_end(self._transaction, report, end.position, self.publish_time_ms)
            )
        self._published = self._transaction = None
        super().close_transaction(end)

    def publishes(self, table: TableId, topic: str) -> None:
        """Set the logical table of the next rows, and its first topic. A row that goes to several
        topics is counted only in the first one.
        """
        self._target = _Target(table, topic)

    def next_number(self, order: OrderPair) -> RowNumber:
        """Return which number the next row has in its source transaction. `order` is the order key
        of the row.

        A changed key is published as two rows, each with its own order key. The second one may get
        its number before the first one is counted.
        """
        if order != self._numbered:
            self._numbered, self._ahead = order, self._ahead + 1
        published = self._published
        total, of_table = 0, 0
        if published is not None:
            total, of_table = published.number, published.counts[self._target.table]
        return RowNumber(self.membership.id, total + self._ahead, of_table + self._ahead)

    def count_dead_letter(self, code: str) -> None:
        """Count a row that was written to the dead letter topic. It has no number in its
        transaction: the next row takes the number that it would have had.
        """
        self._ahead = 0
        super().count_dead_letter(code)

    def add(self, message: OutboundMessage) -> None:
        """Put a message into the open batch, and count its rows unless they were already counted
        with another message.
        """
        self._count_message(message)
        super().add(message)

    def add_printed(self, topic: str, messages: PrintedMessages) -> None:
        """Put messages of one topic into the open batch, and count their rows."""
        if self._packs:
            for message in messages.each(topic):
                self._count_message(message)
        elif messages.number:
            message, _ = messages.message_at(topic, 0)
            first = OrderPair(*row_orders(message.headers[0][1], None)[0])
            last = first.execute_position + messages.number - 1
            self._count(messages.number, first, OrderPair(first.execute_time, last))
        super().add_printed(topic, messages)

    def _include_part(self) -> None:
        published = self._published
        self._progress.report = None if published is None else published.report(self.membership.id)
        super()._include_part()

    def _count_message(self, message: OutboundMessage) -> None:
        """Count the rows of a message.

        A tombstone, a statement and a dead letter have no row. Copies of a row for further topics
        and tags are not counted.
        """
        headers = dict(message.headers)
        order = headers.get(Header.ORDER.value, b"")
        if message.value is None or message.topic != self._target.topic or _OF_A_ROW not in headers:
            return
        if order != self._last_order:
            self._last_order = order
            orders = row_orders(order, headers.get(Header.ORDERS.value))
            self._count(len(orders), OrderPair(*orders[0]), OrderPair(*orders[-1]))

    def _count(self, rows: int, first: OrderPair, last: OrderPair) -> None:
        self._ahead = 0
        if self._published is None and self._transaction is not None:
            self._published = _Published(first, last, ())
            self._add_report(encode_begin(self._transaction, self.publish_time_ms))
        if self._published is not None:
            self._published.add(self._target.table, rows, first, last)

    def _add_report(self, value: bytes) -> None:
        key = report_key(self._instance, self.membership.id)
        self.add_own(OutboundMessage(self._topic, 0, key, value, ()))
