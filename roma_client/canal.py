"""Canal's operations on the relay's topics: connect, subscribe, get, ack, rollback.

They behave as in Canal (alibaba/canal, CanalConnector and MemoryMetaManager): several batches may
be unacknowledged, they are acknowledged in order, and a rollback returns to the last
acknowledgement.
"""

import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from roma_client.errors import ClientError, NotActive, NotConnected, TopicMissing, UsageError
from roma_client.kafka.feed import Feed
from roma_client.kafka.membership import Standing
from roma_client.kafka.options import FeedOptions, Start
from roma_client.kafka.topics import present_topics
from roma_client.metrics import Metrics, NoMetrics
from roma_client.names import Answer, Directory
from roma_client.names.many_tables import TableTopics
from roma_client.names.watcher import OF_VERBS, NameWatcher, moved_from
from roma_client.opening import directory_of, refuse_owned
from roma_client.records.ack_book import Receipt
from roma_client.records.canal_batches import EMPTY_ID, BatchesOut, Collecting, Message, deadline_of
from roma_client.records.change import Values
from roma_client.records.decoding import Reading
from roma_client.records.delivery import Delivery
from roma_client.records.selection import Selection, canal_filter

__all__ = ["EMPTY_ID", "CanalConnector", "Message"]

_TURN_SECONDS: Final = 0.2
_POLL_SECONDS: Final = 0.05
_FETCH_RECORDS: Final = 100
"""Records of one fetch, if batches are limited by bytes."""


@dataclass(eq=False)
class CanalConnector:
    """A client with Canal's operations, for one thread. The other fields are those of Subscription.

    group          Canal's destination and client id, which identify the position
    exclusive      whether only one client of the group is active at a time, as in Canal
    missing        what to do about topics that Kafka does not have yet: wait, or read the others
    batch_bytes    a batch ends when its records in Kafka have this size; None: no limit
    interrupted    called several times a second while a batch is collected; True ends the batch
    metrics        receives lag and events of the client
    needs_columns  raise an error for a delete of which only the key is known (`is_key_only`)
    """

    group: str
    _: KW_ONLY
    admin: str | None = None
    token: str | None = field(default=None, repr=False)
    kafka: Mapping[str, Any] = field(default_factory=dict, repr=False)
    start: Start = "earliest"
    values: Values = "text"
    ddl: bool = True
    exclusive: bool = True
    cache: Path | str | None = None
    session_timeout_seconds: float = 10
    refresh_seconds: float = 15
    missing: Literal["wait", "skip"] = "wait"
    batch_bytes: int | None = None
    interrupted: Callable[[], bool] = field(default=lambda: False, repr=False)
    metrics: Metrics = field(default_factory=NoMetrics, repr=False)
    needs_columns: bool = False

    def __post_init__(self) -> None:
        refuse_owned(self.kafka, "the connector")
        self._directory: Directory | None = None
        self._stack = ExitStack()
        self._feed: Feed | None = None
        self._watcher: NameWatcher | None = None
        self._out = BatchesOut()
        self._waiting: deque[Delivery] = deque()
        self._takes: Callable[[str], bool] = lambda _name: False
        self._topics: frozenset[str] = frozenset()
        self._absent: frozenset[str] = frozenset()

    def connect(self) -> None:
        """Check that the admin answers. Raises NotPermitted, AdminUnreachable, AdminRefused."""
        directory = directory_of(self)
        directory.all_tables()
        self._directory = directory

    def subscribe(self, text: str | Callable[[str], bool] = r".*\..*") -> None:
        r"""Read the logical tables that match a Canal filter, after the last acknowledgement.

        `text` has regular expressions for `database.table`, separated by commas, for example
        `shop\..*,crm\.lead`; or it is a function that returns whether a name matches. An empty text
        matches all tables. A second call replaces the filter. Raises UsageError if no table
        matches, TopicMissing, and the errors of opening a subscription.
        """
        if self._directory is None:
            raise NotConnected("subscribe() was called before connect().")
        takes = self._takes = canal_filter(text) if isinstance(text, str) else text
        self.unsubscribe()
        answer = self._directory.all_tables()
        places = TableTopics(each for each in answer.tables if takes(each.name))
        if not places.topics:
            raise UsageError(f"The filter {text!r} matches no logical table of the mapping.")
        self._topics = self._readable(answer)
        if not self._topics:
            raise TopicMissing(f"Kafka has no topic of {', '.join(sorted(places.topics))} yet.")
        selection = Selection(takes, places.topics, statements=self.ddl, reads=places.reads)
        feed = Feed(self._options(answer, selection), self.metrics)
        watcher = NameWatcher(
            self._directory.ask_all_tables,
            lambda newest: moved_from(newest, places.topics, OF_VERBS),
            self.refresh_seconds,
        )
        with ExitStack() as stack:
            for each in (feed, watcher):
                stack.enter_context(each)
            self._stack = stack.pop_all()
        self._feed, self._watcher = feed, watcher

    def get(self, batch_size: int, timeout_seconds: float | None = None) -> Message:
        """Return a batch and acknowledge it. Raises the errors of `get_without_ack`, and NotActive.

        The broker may not have confirmed the acknowledgement yet.
        """
        message = self.get_without_ack(batch_size, timeout_seconds)
        if message.id != EMPTY_ID:
            self.ack(message.id)
        return message

    def get_without_ack(self, batch_size: int, timeout_seconds: float | None = None) -> Message:
        """Return the next batch: at most `batch_size` changes (1000 if it is not positive), and all
        rows of the last record.

        Without a timeout: the changes available now. With one: a full batch, or the available
        changes after the timeout; 0 waits for a full batch. An exclusive client in standby gets
        empty messages. Raises NotConnected, TableMoved, DeleteWithoutColumns, and the errors of
        reading a subscription.
        """
        feed = self._subscribed()
        feed.commit_when_due()
        deadline = deadline_of(timeout_seconds)
        needs = self.needs_columns
        collecting, left = Collecting(batch_size, self.batch_bytes, needs_columns=needs), 1.0
        try:
            while not collecting.is_full and left > 0 and self._may_collect():
                left = deadline - time.monotonic()
                self._add(collecting, feed, min(max(left, 0), _TURN_SECONDS))
        except BaseException:
            self._waiting.extendleft(reversed(collecting))
            raise
        found = [each for each in collecting if _is_ours(feed, each.receipt)]
        if not found:
            self._subscribed()
            return Message(EMPTY_ID, [])
        return Message(self._out.add(found), [each.change for each in found])

    def ack(self, batch_id: int) -> bool:
        """Acknowledge the first unacknowledged batch. Return whether the broker has confirmed that.

        A confirmed batch is never delivered again. After False, later calls send the
        acknowledgement again; if this client ends before, the batch is delivered again. Raises
        BatchUnknown if `batch_id` is not the first batch, and NotActive if the group has given the
        partitions to another client meanwhile: the batch is delivered again there.
        """
        feed = self._opened()
        batch = self._out.first(batch_id)
        self._out.end_first()
        acknowledged = [feed.ack(each) for each in batch.receipts]
        confirmed = feed.commit(wait=True)
        if not all(acknowledged) or not all(_is_ours(feed, each) for each in batch.receipts):
            raise NotActive(f"Batch {batch_id} is too late: another client has its partitions.")
        return confirmed

    def rollback(self, batch_id: int | None = None) -> None:
        """Go back to the last acknowledgement: all unacknowledged batches are delivered again.

        `batch_id` is the id of the first unacknowledged batch; raises BatchUnknown for another id.
        None: the id is not checked.
        """
        feed = self._opened()
        if batch_id is not None:
            self._out.first(batch_id)
        self._out.clear()
        self._waiting.clear()
        feed.rewind()

    def unsubscribe(self) -> None:
        """Stop reading. The position is kept: the next subscription continues there."""
        self._out.clear()
        self._waiting.clear()
        self._feed = self._watcher = None
        self._stack.close()

    def keep_membership(self) -> None:
        """Stay a member of the group while no other method is called. Call it once a second.

        Raises the errors of reading a subscription.
        """
        if self._feed is not None:
            self._feed.keep_membership()

    def has_new_topics(self) -> bool:
        """Return whether the filter now matches tables in topics that the subscription does not
        read.

        Raises NotConnected, BrokerUnreachable, NotPermitted, and the errors of `connect`.
        """
        self._opened()
        if self._directory is None:
            raise NotConnected("The connector is not connected.")
        return not self._readable(self._directory.all_tables()) <= self._topics

    @property
    def batches_out(self) -> BatchesOut:
        """Return the unacknowledged batches. The caller must not change them."""
        return self._out

    def disconnect(self) -> None:
        """Stop reading and close the connection to the admin.

        Unacknowledged batches are delivered again.
        """
        self.unsubscribe()
        self._directory = None

    @property
    def is_active(self) -> bool:
        """Return whether the group has given partitions to this client."""
        return self._feed is not None and self._feed.is_active

    def __enter__(self) -> "CanalConnector":
        self.connect()
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def _add(self, found: Collecting, feed: Feed, timeout_seconds: float) -> None:
        """Add deliverable changes until the batch is full, all changes of a record together."""
        if not self._waiting:
            limit = found.left if self.batch_bytes is None else min(found.left, _FETCH_RECORDS)
            self._waiting.extend(feed.fetch(limit, max(timeout_seconds, _POLL_SECONDS)))
        while self._waiting and found.has_room_for(change := self._waiting[0]):
            is_more = found.continues(change)
            standing = Standing.CURRENT if is_more else feed.standing(change.receipt)
            if standing is Standing.UNPROVEN:
                time.sleep(timeout_seconds)
                return
            if standing is Standing.VOID or found.add(change):
                self._waiting.popleft()

    def _opened(self) -> Feed:
        if self._feed is None:
            raise NotConnected("The connector has no subscription.")
        return self._feed

    def _subscribed(self) -> Feed:
        """Return the feed. Raises TableMoved if it reads a table where it no longer is."""
        feed = self._opened()
        if self._watcher is not None:
            self._watcher.check()
        return feed

    def _may_collect(self) -> bool:
        """Return whether a batch may wait for more changes: the next one raises what was found."""
        with suppress(ClientError):
            return self._subscribed() is not None and not self.interrupted()
        return False

    def _readable(self, answer: Answer) -> frozenset[str]:
        """Return the topics of the tables that the filter takes, with those of their DDL."""
        tables = [each for each in answer.tables if self._takes(each.name)]
        topics = frozenset(each.topic for each in tables)
        if self.ddl:
            topics |= {topic for each in tables for topic in each.statement_topics}
        if self.missing == "wait":
            return topics
        present = present_topics({**answer.kafka, **self.kafka}, topics)
        self._absent |= topics - present
        return present

    def _options(self, answer: Answer, selection: Selection) -> FeedOptions:
        return FeedOptions(
            self.group,
            tuple(sorted(self._topics)),
            selection,
            Reading(self.values),
            {**answer.kafka, **self.kafka},
            self.start,
            self.exclusive,
            self.session_timeout_seconds,
            appeared=self._absent,
        )


def _is_ours(feed: Feed, receipt: Receipt) -> bool:
    """Return whether the client still has the partition, as far as it knows."""
    return feed.known_standing(receipt) is not Standing.VOID
