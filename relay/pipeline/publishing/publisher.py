"""Publishes the items of the stream: rows, statements and XA transactions, under the active
mapping set.
"""

from collections.abc import Mapping, Sequence

from relay.errors import MappingLost, StoreUnreachable
from relay.model.change import (
    Advance,
    FromSource,
    PreparedRows,
    Statement,
    TransactionBegin,
    TransactionEnd,
    XaStep,
)
from relay.model.table import TableId
from relay.pipeline.active_mapping import ActiveMapping
from relay.pipeline.buffer import Chunk
from relay.pipeline.checkpoint.checkpoint import Checkpoint
from relay.pipeline.checkpoint.reporting_checkpoint import ReportingCheckpoint
from relay.pipeline.checkpoint.skip_policy import SkipReason
from relay.pipeline.copying.table_copies import TableCopies
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.pipeline.messages.choice_of_format import MessageFormats
from relay.pipeline.messages.event_batches import OtherItem, run_at
from relay.pipeline.messages.oversized import MessageOrigin, OversizedMessages
from relay.pipeline.messages.row_topics import RowTopics
from relay.pipeline.messages.statements import (
    RoutedStatement,
    statement_messages,
    statement_routes,
    without_values,
)
from relay.pipeline.messages.table_plans import TablePlans
from relay.pipeline.publishing.message_context import MessageContexts
from relay.pipeline.publishing.move_markers import MoveMarkers
from relay.pipeline.publishing.reported_rows import ReportedRows
from relay.pipeline.publishing.row_publisher import RowPublisher
from relay.pipeline.publishing.source_context import SourceContext
from relay.pipeline.publishing.statement_topics import usable_routes
from relay.pipeline.publishing.xa_publisher import XaPublisher
from relay.refine import Refinements
from relay.schema import Ddl, StatementKind
from relay.settings import InstanceSettings


class Publisher:
    """Takes items in their order, and puts the resulting messages into the checkpoint; used by one
    thread.

    `sources` are by name; a single source is named "".
    """

    def __init__(
        self,
        settings: InstanceSettings,
        checkpoint: Checkpoint,
        mapping: ActiveMapping,
        sources: Mapping[str, SourceContext],
        topics: RowTopics,
        stats: InstanceStats,
        oversize: OversizedMessages | None = None,
        refinements: Refinements | None = None,
    ) -> None:
        self.checkpoint = checkpoint
        self.progress = progress = checkpoint.progress
        self.stats = stats
        self.copies: TableCopies | None = None
        self.markers: MoveMarkers | None = None
        self._settings = settings
        self._mapping = mapping
        self._sources = sources
        first = progress.following if progress.following in sources else next(iter(sources))
        self._definitions = sources[first].definitions
        self._refinements = refinements or Refinements(settings, {})
        self._topics = topics
        self._oversize = oversize
        self._formats = MessageFormats(settings) if oversize is None else oversize.formats
        self._contexts = MessageContexts(settings, checkpoint)
        self._plans = {first: self._new_plans()}
        self._rows = (
            ReportedRows(settings, checkpoint, stats, self._plans[first], oversize)
            if isinstance(checkpoint, ReportingCheckpoint)
            else RowPublisher(
                settings, checkpoint, self._contexts, stats, self._plans[first], oversize
            )
        )
        self._xa_of = {
            name: XaPublisher(each.prepared, self._rows, checkpoint)
            for name, each in sources.items()
        }
        self._xa = self._xa_of[first]

    def take(self, chunk: Chunk) -> bool:
        """Publish the items of the chunk; return whether there were any."""
        before = chunk.at
        self.checkpoint.read_clock()
        while not chunk.done:
            chunk.at += self._whole_transactions(chunk) or self._run(chunk)
            self.checkpoint.poll()
        return chunk.at > before

    def renew_mapping(self) -> None:
        """Change over to a newer mapping set; no effect while a source transaction is open or half
        published.

        If no set may be active (MappingLost, StoreUnreachable), commit the open batch and raise
        the error.
        """
        if not self.progress.between_transactions:
            return
        try:
            renewed = self._mapping.renew(None if self.markers is None else self.markers.prepare)
        except (MappingLost, StoreUnreachable):
            self.checkpoint.commit_open()
            raise
        if renewed:
            if self.copies is not None:
                self.copies.renewed()
            self._plans = {self.progress.following: self._new_plans()}
            self._rows.use(self._plans[self.progress.following])
            self.checkpoint.publish_under(self._mapping.name)
            self.mark_moves()

    def mark_moves(self) -> None:
        """Put the markers of tables that leave a topic, or come back to one, into the batch whose
        record names the new mapping set.

        Raises BrokerUnreachable, StoreUnreachable.
        """
        if self.markers is not None:
            for message in self.markers.messages():
                self.checkpoint.add_own(message)

    def use(self, copies: TableCopies) -> None:
        """Use `copies` to carry out copy requests from now on."""
        self.copies = self._rows.copies = copies

    def close(self) -> None:
        """End the thread that reads tables for copy requests."""
        if self.copies is not None:
            self.copies.close()

    def copy_tables(self) -> bool:
        """Do the next step of the copy requests, if no source transaction is open; return whether a
        request is in progress.
        """
        copies = self.copies
        if copies is None or not copies.busy:
            return False
        if self.progress.between_transactions:
            copies.step(self._mapping.router)
        return copies.busy

    def _run(self, chunk: Chunk) -> int:
        """Publish the next item, with the row events that go with it; return how many there
        were.
        """
        each = run_at(chunk.items, chunk.at, self._rows.most_events, self._rows.most_bytes)
        if isinstance(each, list):
            self.checkpoint.saw(each)
            self._rows.publish(each)
            return len(each)
        self._other(each)
        return 1

    def _whole_transactions(self, chunk: Chunk) -> int:
        if not self._rows.prints_whole_transactions:
            return 0
        if self.progress.whole:
            self.renew_mapping()
            self.copy_tables()
        return self._rows.whole_transactions(chunk)

    def _other(self, item: OtherItem) -> None:
        match item:
            case TransactionBegin():
                self.renew_mapping()
                self.copy_tables()
                self.checkpoint.open_transaction(item)
            case TransactionEnd():
                self._xa.end()
                self.checkpoint.close_transaction(item)
            case Statement():
                self.checkpoint.saw((item,))
                self._statement(item)
            case PreparedRows():
                self.checkpoint.saw((item,))
                self._xa.keep(item)
            case XaStep():
                self.checkpoint.saw((item,))
                self._xa.step(item)
            case Advance():
                self.checkpoint.advance(item)
            case FromSource():
                self._follow(item.source)

    def _follow(self, source: str) -> None:
        """Take the next items as those of this source of a group: its position, its tables and its
        prepared transactions.
        """
        self.checkpoint.follow(source)
        self._definitions = self._sources[source].definitions
        self._xa = self._xa_of[source]
        if source not in self._plans:
            self._plans[source] = self._new_plans()
        self._rows.follow(self._plans[source])

    def _statement(self, item: Statement) -> None:
        ddl = without_values(self._definitions.apply(item), self._refinements)
        if ddl.kind is StatementKind.IGNORED:
            return
        self._rows.forget_tables()
        if self.copies is not None:
            self.copies.statement(ddl.exchanged)
        routes = self._routes(ddl)
        if not routes:
            self.checkpoint.count_statement()
            return
        self.checkpoint.commit_before_statement()
        self.checkpoint.count_statement()
        for each in routes:
            self._send_statement(item, ddl, each)
        self.checkpoint.end_with_statement()

    def _routes(self, ddl: Ddl) -> Sequence[RoutedStatement]:
        """Return where the statement goes; empty where it is left out, which is counted."""
        progress = self.progress
        if progress.skip_reason is not None:
            skipped = progress.skip_reason is SkipReason.SKIPPED and not progress.to_skip
            for table in ddl.tables if skipped else ():
                self.checkpoint.count_skipped(table, 1)
            return ()
        if progress.to_skip or not self._rows.filter.accepts_statement(
            ddl.tables, is_ddl=ddl.is_ddl
        ):
            return ()
        routes = statement_routes(
            ddl, self._rows.plans.router, self._topics.counts, self.stats.tables.copy()
        )
        if routes and ddl.is_ddl and self._settings.message.ddl == "drop":
            self.stats.drop(
                TableId(ddl.database, ddl.table),
                'ddl = "drop" leaves its statements out.',
                "operation",
                1,
            )
            return ()
        if ddl.drops_database:
            return usable_routes(routes, self._topics, self._settings.message.ddl)
        return routes

    def _send_statement(self, item: Statement, ddl: Ddl, route: RoutedStatement) -> None:
        (real, destination), router = route, self._rows.plans.router
        context = self._contexts.of_statement(item, real)
        for message in statement_messages(
            ddl,
            destination,
            router,
            self._topics,
            self._settings.message,
            self._formats,
            context,
            self.progress.order,
        ):
            if self._oversize is None:
                self.checkpoint.add(message)
            else:
                origin = MessageOrigin(
                    real, destination.logical, self.progress.begin, context, destination.topics
                )
                self._oversize.send(message, origin)

    def _new_plans(self) -> TablePlans:
        return TablePlans(
            self._settings,
            self._mapping.router,
            self._definitions,
            self._topics,
            self._refinements,
            self._formats,
        )
