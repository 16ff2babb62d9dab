"""A Kafka consumer without a broker, for unit tests of a client."""

from collections import deque
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicPartition

from roma_client.kafka.feed import Feed, OnCorrupt
from roma_client.kafka.options import FeedOptions
from roma_client.metrics import NoMetrics
from roma_client.records.decoding import Reading
from roma_client.records.moved import Followed
from roma_client.records.record import ClaimReader, Record
from roma_client.records.selection import Selection

SESSION = 10
TIMED_OUT: int = KafkaError._TIMED_OUT  # noqa: SLF001  # the client's local errors begin like that
WAIT_COORD: int = KafkaError._WAIT_COORD  # noqa: SLF001
ASSIGNMENT_LOST: int = KafkaError._ASSIGNMENT_LOST  # noqa: SLF001
NO_OFFSET: int = KafkaError._AUTO_OFFSET_RESET  # noqa: SLF001
END_OF_PARTITION: int = KafkaError._PARTITION_EOF  # noqa: SLF001
FATAL: int = KafkaError._FATAL  # noqa: SLF001
Answer = Callable[[], "list[FakeMessage]"]


class FakeMessage:
    """A message that the consumer returns: a record, or an error."""

    def __init__(self, record: Record, error: KafkaError | None = None) -> None:
        self._record = record
        self._error = error

    def error(self) -> KafkaError | None:
        return self._error

    def topic(self) -> str:
        return self._record.topic

    def partition(self) -> int:
        return self._record.partition

    def offset(self) -> int:
        return self._record.offset

    def key(self) -> bytes | None:
        return self._record.key

    def value(self) -> bytes | None:
        return self._record.value

    def timestamp(self) -> tuple[int, int]:
        return 1, int(self._record.timestamp * 1000)

    def headers(self) -> Sequence[tuple[str, bytes | None]]:
        return self._record.headers


class FakeConsumer:
    """Returns the given answers, then nothing.

    asked      how often it was asked for messages
    refusal    error of each commit, None: accepted
    committed  offset of each partition by accepted commits
    on_commit  called with each commit that waits
    callbacks  what `subscribe` was given; a rebalance comes while it closes
    assigned   partitions of each assignment that a callback has made
    """

    def __init__(self) -> None:
        self.config: dict[str, Any] = {}
        self.answers: deque[Answer] = deque()
        self.asked = 0
        self.refusal: int | None = None
        self.committed: dict[tuple[str, int], int] = {}
        self.on_commit: Callable[[], None] = lambda: None
        self.callbacks: dict[str, Callable[..., None]] = {}
        self.assigned: list[list[tuple[str, int]]] = []

    def gives(self, *records: Record | FakeMessage) -> None:
        """Return these messages together, as the next answer."""
        found = [each if isinstance(each, FakeMessage) else FakeMessage(each) for each in records]
        self.answers.append(lambda: found)

    def refuses_later(self, refusal: int) -> None:
        """Refuse an asynchronous commit later, through its callback."""
        self.config["on_commit"](KafkaError(refusal), [])

    def consume(self, *_: Any) -> list[FakeMessage]:
        self.asked += 1
        return self.answers.popleft()() if self.answers else []

    def commit(
        self, offsets: list[TopicPartition], *, asynchronous: bool = True
    ) -> list[TopicPartition]:
        if not asynchronous:
            self.on_commit()
        if self.refusal is not None:
            raise KafkaException(KafkaError(self.refusal))
        self.committed.update({(each.topic, each.partition): each.offset for each in offsets})
        return offsets

    def list_topics(self, *_: Any, **__: Any) -> Any:
        """Return the metadata of the topic `shop` with two partitions."""
        shop = SimpleNamespace(error=None, partitions={0: None, 1: None})
        return SimpleNamespace(topics={"shop": shop})

    def get_watermark_offsets(self, *_: Any, **__: Any) -> tuple[int, int]:
        return 0, -1

    def subscribe(self, _: list[str], **callbacks: Callable[..., None]) -> None:
        """Keep the callbacks for assignments."""
        self.callbacks = callbacks

    def close(self) -> None:
        """Give a partition to the client and take another one, as a rebalance does meanwhile."""
        if self.callbacks:
            self.callbacks["on_assign"](self, [TopicPartition("shop", 1)])
            self.callbacks["on_revoke"](self, [TopicPartition("shop", 0)])

    def assign(self, partitions: list[TopicPartition]) -> None:
        """Keep what a callback assigns."""
        self.assigned.append([(each.topic, each.partition) for each in partitions])

    incremental_assign = assign

    def unassign(self) -> None:
        """Do nothing."""

    def incremental_unassign(self, partitions: list[TopicPartition]) -> None:
        """Do nothing."""


class FakeClock:
    """Replaces the module `time` in the code that computes the lease."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


def opened_feed(
    claim_reader: ClaimReader | None = None,
    on_corrupt: OnCorrupt | None = None,
    *,
    exclusive: bool = False,
    follow: Followed | None = None,
) -> Feed:
    """A feed that has the partitions 0 and 1 of the topic `shop`, proven now."""
    selection = Selection(lambda _: True, {"shop.orders": "shop"}, statements=True)
    options = FeedOptions(
        "group",
        ("shop",),
        selection,
        Reading("text", claim_reader),
        {},
        exclusive=exclusive,
        session_timeout_seconds=SESSION,
        follow=follow,
    )
    feed = Feed(options, NoMetrics(), on_corrupt)
    feed.assigned([TopicPartition("shop", number, 0) for number in (0, 1)])
    return feed
