"""What the messages of an event say besides its rows, made anew only where it differs from the event before."""

from relay.encode import MessageFrame, Origin
from relay.errors import BatchAborted
from relay.model.change import RowsEvent, Statement, TransactionBegin
from relay.model.table import TableId
from relay.pipeline.checkpoint.progress import Progress
from relay.pipeline.messages.changes import EventContext
from relay.schema import column_renames
from relay.settings import InstanceSettings


class EventContexts:
    """Makes the contexts of one walk's events. `publish_time_ms` and `batch` are set by the walk as time and batches go on."""

    def __init__(self, settings: InstanceSettings, progress: Progress, publish_time_ms: int) -> None:
        self.publish_time_ms = publish_time_ms
        self.batch = 1
        self._progress = progress
        self._name = settings.name
        self._names_gtid = settings.source.gtid
        self._full_headers = settings.message.headers != "default"
        self._made_for: tuple[TransactionBegin, int, int, int] | None = None

    def of(self, item: RowsEvent) -> EventContext:
        """Return the context of a row event of the open transaction. Raises BatchAborted when none is open."""
        context = self._bare_context(item)
        return self._with_origin(context, item.table.id, item) if self._full_headers else context

    def of_statement(self, item: Statement, table: TableId) -> EventContext:
        """Return the context of a statement that names this real table ("" as its table: none). Raises BatchAborted as above."""
        context = self._bare_context(item)
        return self._with_origin(context, table if table.table else None, item) if self._full_headers else context

    def _bare_context(self, item: RowsEvent | Statement) -> EventContext:
        begin = self._progress.begin
        if begin is None:
            raise BatchAborted(f"A change at {item.position} stands outside of a transaction.")
        made_for = begin, item.header_time_s, self.batch, self.publish_time_ms
        if made_for != self._made_for:
            frame = MessageFrame(
                event_time_ms=item.header_time_s * 1000,
                gtid=begin.gtid if self._names_gtid else "",
                batch=self.batch,
                publish_time_ms=self.publish_time_ms,
            )
            self._made_for, self._bare = made_for, EventContext(frame, None)
        return self._bare

    def _with_origin(self, context: EventContext, real: TableId | None, item: RowsEvent | Statement) -> EventContext:
        progress = self._progress
        origin = Origin(
            instance=f"{self._name}/{progress.following}" if progress.following else self._name,
            real=real,
            server_id=progress.record.source.identity.server_id,
            position=item.position,
            gtid=progress.begin.gtid if progress.begin is not None else "",
            mapping_set=progress.mapping.number,
            failed=isinstance(item, Statement) and item.failed,
            renamed=column_renames(item) if isinstance(item, Statement) else None,
        )
        return EventContext(context.frame, origin)
