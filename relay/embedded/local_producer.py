"""A producer that passes batches of messages to the program instead of Kafka."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from relay.embedded.local_stores import LocalRecords
from relay.model.message import OutboundMessage, PrintedMessages
from relay.model.records.hashed_forms import HashedForms
from relay.model.table import TableId

_NO_LIMIT_BYTES: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Batch:
    """The contents of one commit.

    messages  messages of rows and statements, in the order of the source
    record    the position record after them
    beside    records that must be stored together with the position
    """

    messages: Sequence[OutboundMessage]
    record: bytes
    beside: Sequence[OutboundMessage]


class LocalProducer:
    """Collects messages, and passes them on as batches. Used by one thread.

    A commit is confirmed at once, because the program decides later which position it saves.
    """

    def __init__(self, stores: Mapping[str, LocalRecords]) -> None:
        self._stores = stores
        self._messages: list[OutboundMessage] = []
        self._beside: list[OutboundMessage] = []
        self._since_s = 0.0
        self.batches: deque[Batch] = deque()

    @property
    def sent_messages(self) -> int:
        """Return the number of messages in the open batch."""
        return len(self._messages) + len(self._beside)

    @property
    def open_seconds(self) -> float:
        """Return the seconds since the open batch began; 0 if there is none."""
        return monotonic() - self._since_s if self._since_s else 0.0

    @property
    def longest_open_seconds(self) -> float:
        """Return the same as `open_seconds`: there is only one open batch."""
        return self.open_seconds

    @property
    def needs_barrier(self) -> bool:
        """Return False: batches are passed on in their order."""
        return False

    @property
    def overlaps(self) -> bool:
        """Return False: a commit is confirmed before the next batch begins."""
        return False

    def expect(self, partitions: int) -> None:
        """Do nothing: this producer has no queue."""

    def open(self) -> None:
        """Do nothing: the lock of the position store excludes other producers."""

    def send(self, message: OutboundMessage) -> None:
        """Add a message to the open batch; begin a batch if there is none."""
        self._begin()
        own = message.topic in self._stores
        (self._beside if own else self._messages).append(message)

    def send_printed(self, topic: str, messages: PrintedMessages) -> None:
        """Add messages of one topic to the open batch; begin a batch if there is none."""
        self._begin()
        self._messages.extend(messages.each(topic))

    def send_deletion(self, message: OutboundMessage) -> None:
        """Add the deletion of a record to the open batch."""
        self.send(message)

    def commit(self, record: OutboundMessage) -> "Future[None]":
        """Finish the batch with its position record. Return a future that is already done."""
        for each in self._beside:
            self._stores[each.topic].write(each.key or b"", each.value)
        self.batches.append(Batch(self._messages, record.value or b"", self._beside))
        self.abort()
        done: Future[None] = Future()
        done.set_result(None)
        return done

    def commit_barrier(
        self, record: OutboundMessage, beside: Sequence[OutboundMessage]
    ) -> "Future[None]":
        """Finish the batch with its position record and the records in `beside`. Return a finished
        future.
        """
        for each in beside:
            self.send(each)
        return self.commit(record)

    def commit_overlapping(
        self,
        record: OutboundMessage,
        free: Callable[[], object],  # noqa: ARG002 - the future is done
    ) -> "Future[None]":
        """Finish the batch as `commit` does. `free` is not called, because the returned future is
        finished.
        """
        return self.commit(record)

    def abort(self) -> None:
        """Drop the open batch."""
        self._messages, self._beside, self._since_s = [], [], 0.0

    def close(self) -> None:
        """Drop the open batch."""
        self.abort()

    def _begin(self) -> None:
        self._since_s = self._since_s or monotonic()


@dataclass(slots=True)
class _NoLimits:
    limits: dict[str, int] = field(default_factory=dict)


class LocalTopics:
    """Topics that exist only as names: each has one partition and accepts messages of any size."""

    def __init__(self) -> None:
        self.sizes = _NoLimits()
        self.counts: Mapping[str, int] = {}
        self.placed_by: Mapping[str, str] = {}
        self.hashed_forms: HashedForms = {}
        self.formats: Mapping[str, str] = {}

    def partitions(self, topic: str) -> int:
        """Return 1: embedded topics have one partition."""
        self.sizes.limits[topic] = _NO_LIMIT_BYTES
        return 1

    def keep_key_forms(
        self, topic: str, table: TableId, form: str, shard: TableId | None = None
    ) -> None:
        """Do nothing: all keys are in one partition."""

    def is_compacted(self, topic: str) -> bool:
        """Return False: embedded topics are never compacted."""
        del topic
        return False

    def existing(self, topics: Iterable[str]) -> frozenset[str]:
        """Return all of the names: embedded topics always exist."""
        return frozenset(topics)

    def ensure_single(self, topic: str) -> None:
        """Do nothing: embedded topics always exist."""
