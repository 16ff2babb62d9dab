"""Reads the topics for one client id of a destination, with a consumer group."""

import time
from collections.abc import Callable
from typing import Final, NamedTuple

import structlog

from canal_server.entries import entries_of
from canal_server.errors import Refused
from canal_server.figures import ClientFigures
from relay.errors import ConfigurationError
from relay.model.names.name_pattern import NamePattern
from relay.settings import CanalServerSettings
from roma_client.canal import EMPTY_ID, CanalConnector, Message
from roma_client.errors import ClientError, TopicMissing
from roma_client.records.canal_batches import USUAL_SIZE

_NEXT_TRY_SECONDS: Final = 2.0
_TURN_SECONDS: Final = 0.2

_log = structlog.stdlib.get_logger(__name__)


class Batch(NamedTuple):
    """A batch that is sent to the client. The id is -1 if it has no changes."""

    id: int
    entries: list[bytes]


_NO_BATCH: Final = Batch(EMPTY_ID, [])


class SubscriberFeed:
    """The subscription of a client id. It must be used by one thread.

    Its topics may be missing, because the relay creates a topic with its first row. The feed then
    delivers empty batches and checks again later whether the topics exist.
    """

    def __init__(
        self,
        connector: CanalConnector,
        settings: CanalServerSettings,
        figures: ClientFigures,
        interrupted: Callable[[], bool],
    ) -> None:
        self._connector = connector
        self._settings = settings
        self._figures = figures
        self._interrupted = interrupted
        self._takes: Callable[[str], bool] | None = None
        self._reads = False
        self._look_at = 0.0

    def subscribe(self, bound: str, wanted: str) -> None:
        """Read the tables that match both filters; an empty `wanted` means all tables of `bound`.

        bound   filter of the destination
        wanted  filter of the client

        Raises Refused if `wanted` is not a list of expressions, UsageError if no table matches both
        filters, and other ClientErrors.
        """
        try:
            filters = [NamePattern(each) for each in (bound, wanted) if each]
        except ConfigurationError as exc:
            raise Refused(f"The filter {wanted!r} is refused: {exc}") from exc
        self._takes = lambda name: all(each.matches(name) for each in filters)
        self._connector.connect()
        self._open()

    def unsubscribe(self) -> None:
        """Stop reading. The position is kept."""
        self._takes, self._reads = None, False
        self._connector.unsubscribe()
        self._figures.show(0)

    def get(self, size: int, timeout_seconds: float | None) -> Batch:
        """Return the next batch of at most `size` changes. Raises Refused without a subscription,
        and ClientError.

        `timeout_seconds` None: the available changes; 0: wait for a full batch.
        """
        if self._takes is None:
            raise Refused("A batch was requested before the subscription.")
        if self._connector.batches_out.changes >= self._settings.rows_out:
            _log.warning("canal_rows_out", limit=self._settings.rows_out, **self._figures.names)
            self.keep()
            return self._nothing(timeout_seconds)
        if not self._is_reading():
            return self._nothing(timeout_seconds)
        rows = min(size if size > 0 else USUAL_SIZE, self._settings.batch_rows)
        return self._delivered(self._connector.get_without_ack(rows, timeout_seconds))

    def ack(self, batch_id: int) -> None:
        """Acknowledge the oldest unacknowledged batch. Raises Refused and ClientError."""
        if self._takes is None:
            raise Refused(f"Batch {batch_id} was acknowledged before the subscription.")
        self._connector.ack(batch_id)
        self._show()

    def rollback(self, batch_id: int) -> None:
        """Deliver all unacknowledged batches again.

        `batch_id` is 0, or the id of the oldest unacknowledged batch; both have the same effect.
        Clients also send this request when they connect: without a subscription it has no effect.
        Raises ClientError, for another id BatchUnknown.
        """
        if self._reads and (batch_id or self._connector.batches_out.ids):
            self._connector.rollback(batch_id or None)
            self._show()

    def keep(self) -> None:
        """Stay a member of the group while the client requests nothing. Raises ClientError."""
        self._connector.keep_membership()

    def close(self) -> None:
        """Stop reading, and remove the metrics. It raises no ClientError."""
        try:
            self._connector.disconnect()
        except ClientError as exc:
            _log.info("canal_session_ended_late", error=str(exc), **self._figures.names)
        self._figures.remove()

    def _delivered(self, message: Message) -> Batch:
        if message.id == EMPTY_ID:
            return _NO_BATCH
        self._figures.delivered_rows(len(message.changes))
        self._show()
        marks = self._settings.transaction_entries
        return Batch(message.id, entries_of(message.changes, marks=marks))

    def _nothing(self, timeout_seconds: float | None) -> Batch:
        """Return an empty batch, not before a second of the client's timeout."""
        end = time.monotonic() + min(timeout_seconds or 0, 1)
        while time.monotonic() < end and not self._interrupted():
            time.sleep(_TURN_SECONDS)
        return _NO_BATCH

    def _is_reading(self) -> bool:
        """Return whether topics are read, after looking for new ones if it is time to."""
        now = time.monotonic()
        if now < self._look_at or self._connector.batches_out.ids:
            return self._reads
        if self._reads and not self._has_new_topics():
            self._look_at = now + self._settings.refresh_seconds
            return True
        return self._open()

    def _has_new_topics(self) -> bool:
        try:
            return self._connector.has_new_topics()
        except ClientError as exc:  # continue with the records that are read already
            _log.info("canal_topics_not_refreshed", error=str(exc), **self._figures.names)
            return False

    def _open(self) -> bool:
        """Read the topics that Kafka has; return False if it has none yet."""
        now = time.monotonic()
        if self._takes is None:
            return False
        try:
            self._connector.subscribe(self._takes)
        except TopicMissing as exc:
            _log.info("canal_topics_missing", error=str(exc), **self._figures.names)
            self._reads, self._look_at = False, now + _NEXT_TRY_SECONDS
            return False
        self._reads, self._look_at = True, now + self._settings.refresh_seconds
        return True

    def _show(self) -> None:
        self._figures.show(len(self._connector.batches_out.ids))
