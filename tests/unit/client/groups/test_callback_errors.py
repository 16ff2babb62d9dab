"""Errors inside Kafka's callbacks: a client stops with them, and skips nothing afterwards."""

from collections.abc import Callable
from threading import Event
from unittest.mock import Mock

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from roma_client.changes import Changes
from roma_client.errors import BrokerUnreachable, KafkaRefused
from roma_client.handling import Handling, Retry, WorkerPool
from roma_client.kafka.feed import Feed
from roma_client.metrics import NoMetrics
from roma_client.names.watcher import NameWatcher
from roma_client.records.change import Change
from tests.support.clients.fake_consumer import FakeConsumer, FakeMessage, opened_feed
from tests.support.clients.made_records import row_record
from tests.support.waiting import wait_until

OTHERS = 1
"""Id of a row that another one of two workers processes than the row 0."""


def rows(*offsets: int, partition: int = 0) -> list[FakeMessage]:
    made = [row_record([{"id": str(each)}], order=(1000, each), offset=each) for each in offsets]
    return [FakeMessage(each._replace(partition=partition)) for each in made]


def opened_changes(feed: Feed) -> Changes:
    return Changes(feed, NoMetrics(), Mock(spec=NameWatcher))


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (BrokerUnreachable("no broker answers"), BrokerUnreachable),
        (KafkaException(KafkaError(KafkaError.INVALID_GROUP_ID)), KafkaRefused),
        (OSError("the service's own"), OSError),
    ],
)
def test_after_an_error_in_a_callback_no_later_record_is_delivered(
    consumer: FakeConsumer, raised: Exception, expected: type[Exception]
) -> None:
    """Kafka's client drops the records of that poll, and assigns partitions that nobody reads."""
    feed = opened_feed()

    def fail() -> list[FakeMessage]:
        raise raised

    consumer.gives(*rows(0))
    consumer.answers.append(fail)
    consumer.gives(*rows(2, 3))
    changes = opened_changes(feed)
    first = changes.poll(0)
    assert first is not None
    feed.ack(first.receipt)
    for _ in range(3):
        with pytest.raises(expected) as told:
            changes.poll(0)
        assert told.value is raised or expected is KafkaRefused
    feed.close()
    assert consumer.committed["shop", 0] == 1


def test_a_client_that_failed_leaves_its_group_although_its_last_commit_is_refused(
    consumer: FakeConsumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed, closed = opened_feed(), Mock()
    monkeypatch.setattr(consumer, "close", closed)
    consumer.answers.append(Mock(side_effect=OSError("the service's own")))
    with pytest.raises(OSError, match="own"):
        feed.fetch(1, 0)
    consumer.refusal = KafkaError.REBALANCE_IN_PROGRESS
    feed.close()
    closed.assert_called_once()


def pool_of_two(feed: Feed, changes: Changes, handler: Callable[[Change], None]) -> WorkerPool:
    handling = Handling(handler, Retry(1), None, NoMetrics(), changes.wait)
    return WorkerPool(changes, feed, handling, 2)


def test_a_partition_is_given_away_whole_although_a_worker_fails_meanwhile(
    consumer: FakeConsumer,
) -> None:
    """The error is raised after the callback; what other workers have finished is acknowledged."""
    feed, revoking = opened_feed(), Event()
    changes = opened_changes(feed)
    begun: list[int] = []
    seen: list[int] = []

    def handler(change: Change) -> None:
        begun.append(change.place.partition)
        revoking.wait()
        if change.place.partition == 1:
            raise OSError("poison")
        wait_until(lambda: changes.stopped, "the other worker to fail")
        seen.append(change.place.offset)

    def revoke() -> list[FakeMessage]:
        wait_until(lambda: len(begun) == 2, "both workers to begin")
        revoking.set()
        feed.revoked([("shop", 0), ("shop", 1)], lost=False)
        return []

    consumer.gives(*rows(0), *rows(OTHERS, partition=1))
    consumer.answers.append(revoke)
    with pytest.raises(OSError, match="poison"):
        pool_of_two(feed, changes, handler).run()
    assert (seen, feed.is_active) == ([0], False)
    assert consumer.committed == {("shop", 0): 1, ("shop", 1): OTHERS}


def test_what_workers_have_finished_is_acknowledged_after_another_one_failed(
    consumer: FakeConsumer,
) -> None:
    feed, begun = opened_feed(), Event()
    changes = opened_changes(feed)

    def handler(change: Change) -> None:
        if change.place.partition == 1:
            begun.wait()
            raise OSError("poison")
        begun.set()
        wait_until(lambda: changes.stopped, "the other worker to fail")

    consumer.gives(*rows(0), *rows(OTHERS, partition=1))
    with pytest.raises(OSError, match="poison"):
        pool_of_two(feed, changes, handler).run()
    feed.commit(wait=True)
    assert consumer.committed == {("shop", 0): 1, ("shop", 1): OTHERS}


def test_an_assignment_that_fails_is_raised_at_each_later_poll(consumer: FakeConsumer) -> None:
    """Its partitions have no offsets, and their records would be dropped."""
    feed = opened_feed()
    refused = Mock(side_effect=KafkaRefused("the offsets of the group"))
    feed._membership._starts = refused  # type: ignore[method-assign]  # noqa: SLF001
    feed._membership.join()  # noqa: SLF001

    def assign() -> list[FakeMessage]:
        consumer.callbacks["on_assign"](consumer, [TopicPartition("shop", 5)])
        return []

    consumer.answers.append(assign)
    consumer.gives(*rows(7, partition=5))
    for _ in range(2):
        with pytest.raises(KafkaRefused, match="the offsets of the group"):
            feed.fetch(10, 0)


@pytest.mark.parametrize("exclusive", [False, True])
def test_a_rebalance_while_a_client_closes_sends_no_request_and_assigns_nothing(
    consumer: FakeConsumer, *, exclusive: bool
) -> None:
    """Kafka's client waits for ever for the answer, or ends the process by a failed assertion."""
    feed, commits, handed_over = opened_feed(exclusive=exclusive), [], Mock()
    feed._membership.join()  # noqa: SLF001
    feed.before_revoke = handed_over
    consumer.gives(*rows(0))
    (delivery,) = feed.fetch(10, 0)
    feed.ack(delivery.receipt)
    consumer.on_commit = lambda: commits.append(dict(consumer.committed))
    feed.close()
    assert len(commits) == 1, "before the consumer closes"
    assert consumer.committed["shop", 0] == 1
    assert (consumer.assigned, feed.is_active) == ([[]], not exclusive)
    handed_over.assert_not_called()
