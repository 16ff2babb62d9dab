"""What the messages of an event say besides its rows, made anew only where it differs from the event before."""

from relay.encode import MessageFrame, Origin
from relay.errors import BatchAborted
from relay.model.change import RowsEvent, Statement, TransactionBegin
from relay.pipeline.progress import Progress
from relay.pipeline.published_changes import EventContext
from relay.settings import InstanceSettings


class EventContexts:
    """Makes the contexts of one walk's events. `publish_time_ms` and `batch` are set by the walk as time and batches go on."""

    def __init__(self, settings: InstanceSettings, progress: Progress, publish_time_ms: int) -> None:
        self.publish_time_ms = publish_time_ms
        self.batch = 1
        self._progress = progress
        self._names_gtid = settings.source.gtid
        self._full_headers = settings.message.headers != "default"
        self._made_for: tuple[TransactionBegin, int, int, int] | None = None

    def of(self, item: RowsEvent | Statement) -> EventContext:
        """Return the context of a change of the open transaction. Raises BatchAborted when none is open."""
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
        if self._full_headers and isinstance(item, RowsEvent):
            server_id = self._progress.record.source.identity.server_id
            origin = Origin(item.table.id, server_id, item.position, begin.gtid, self._progress.mapping_set)
            return EventContext(self._bare.frame, origin)
        return self._bare
