"""Batches of messages that stay in the program."""

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
    """What one commit holds.

    messages  of rows and statements, in the order of the source
    record    the position record after them
    beside    records of the stores that are stored together with the position
    """

    messages: Sequence[OutboundMessage]
    record: bytes
    beside: Sequence[OutboundMessage]


class LocalProducer:
    """Collects messages, and gives them as batches; used by one thread.

    A commit is confirmed at once: what the program does with the batch decides which position it
    saves.
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
        """Return for how many seconds the batch has been open; 0 if none is."""
        return monotonic() - self._since_s if self._since_s else 0.0

    @property
    def longest_open_seconds(self) -> float:
        """Return for how many seconds the batch has been open, as `open_seconds`."""
        return self.open_seconds

    @property
    def needs_barrier(self) -> bool:
        """Return False: batches are passed on in their order."""
        return False

    @property
    def overlaps(self) -> bool:
        """Return False: a commit is answered before the next batch."""
        return False

    def expect(self, partitions: int) -> None:
        """Do nothing: this producer has no queue."""

    def open(self) -> None:
        """No older producer exists: the position store is locked."""

    def send(self, message: OutboundMessage) -> None:
        """Take one message; begin a batch if none is open."""
        self._begin()
        own = message.topic in self._stores
        (self._beside if own else self._messages).append(message)

    def send_printed(self, topic: str, messages: PrintedMessages) -> None:
        """Take messages of one topic; begin a batch if none is open."""
        self._begin()
        self._messages.extend(messages.each(topic))

    def send_deletion(self, message: OutboundMessage) -> None:
        """Add the deletion of a record to the open batch."""
        self.send(message)

    def commit(self, record: OutboundMessage) -> "Future[None]":
        """Close the batch with its position record; return a future that is done."""
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
        """Close the batch with the messages beside its record."""
        for each in beside:
            self.send(each)
        return self.commit(record)

    def commit_overlapping(
        self,
        record: OutboundMessage,
        free: Callable[[], object],  # noqa: ARG002 - the future is done
    ) -> "Future[None]":
        """Close the batch as `commit` does."""
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
    """Topics that exist by name only: one partition each, without a limit of sizes."""

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
        """Do nothing: all keys are in the one partition."""

    def is_compacted(self, topic: str) -> bool:
        """Return False: embedded topics are never compacted."""
        del topic
        return False

    def existing(self, topics: Iterable[str]) -> frozenset[str]:
        """Return all of the names: embedded topics always exist."""
        return frozenset(topics)

    def ensure_single(self, topic: str) -> None:
        """Do nothing: embedded topics always exist."""
