"""The metadata of an event's messages (times, GTID, batch number), cached while consecutive events
share it.
"""

from relay.encode import NO_COORDINATES, EventCoordinates, MessageFrame, NumberOf, Origin
from relay.errors import BatchAborted
from relay.model.change import RowsEvent, Statement
from relay.model.table import TableId
from relay.pipeline.checkpoint.checkpoint import Checkpoint
from relay.pipeline.messages.choice_of_format import some_name_coordinates
from relay.pipeline.messages.published_changes import EventContext
from relay.schema import column_renames
from relay.settings import InstanceSettings


class MessageContexts:
    """Returns the metadata of the events that are published through one checkpoint."""

    def __init__(
        self,
        settings: InstanceSettings,
        checkpoint: Checkpoint,
        number_of: NumberOf | None = None,
    ) -> None:
        """`number_of` returns the number of a row in its source transaction; None: messages contain
        no numbers.
        """
        self._checkpoint = checkpoint
        self._progress = checkpoint.progress
        self._number_of = number_of
        self._name = settings.name
        self._names_gtid = settings.source.gtid
        self._full_headers = settings.message.headers != "default"
        self._some_name_places = some_name_coordinates(settings)
        self._made_for: tuple[object, ...] | None = None

    def of(self, item: RowsEvent, *, names_coordinates: bool) -> EventContext:
        """Return the metadata of a row event of the open transaction.

        `names_coordinates`: its messages contain the binlog coordinates of the event. Raises
        BatchAborted if no transaction is open.
        """
        context = self._bare_context(item, names_coordinates=names_coordinates)
        return self._with_origin(context, item.table.id, item) if self._full_headers else context

    def of_statement(self, item: Statement, table: TableId) -> EventContext:
        """Return the metadata of a statement about the real table `table`. If the statement names
        no table, the table's name is "".

        Raises BatchAborted if no transaction is open.
        """
        context = self._bare_context(item, names_coordinates=self._some_name_places)
        return (
            self._with_origin(context, table if table.table else None, item)
            if self._full_headers
            else context
        )

    def _bare_context(
        self, item: RowsEvent | Statement, *, names_coordinates: bool
    ) -> EventContext:
        begin = self._progress.begin
        if begin is None:
            raise BatchAborted(f"A change at {item.position} is outside of a transaction.")
        checkpoint = self._checkpoint
        place = self._coordinates(item) if names_coordinates else NO_COORDINATES
        made_for = (
            begin,
            item.header_time_s,
            checkpoint.batch_number,
            checkpoint.publish_time_ms,
            place,
        )
        if made_for != self._made_for:
            frame = MessageFrame(
                event_time_ms=item.header_time_s * 1000,
                gtid=begin.gtid if self._names_gtid else "",
                batch=checkpoint.batch_number,
                publish_time_ms=checkpoint.publish_time_ms,
                coordinates=place,
                number_of=self._number_of,
            )
            self._made_for, self._bare = made_for, EventContext(frame, None)
        return self._bare

    def _coordinates(self, item: RowsEvent | Statement) -> EventCoordinates:
        server_id = self._progress.record.source.identity.server_id
        return EventCoordinates(server_id, item.position.file, item.position.offset)

    def _with_origin(
        self, context: EventContext, real: TableId | None, item: RowsEvent | Statement
    ) -> EventContext:
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
