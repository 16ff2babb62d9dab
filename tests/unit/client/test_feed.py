"""What a client hands out and acknowledges while the broker is away, refuses it, or errs."""

import json
import time
from unittest.mock import Mock

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from roma_client.changes import Changes
from roma_client.errors import ClaimUnreadable, RowsExpired
from roma_client.kafka.feed import Feed
from roma_client.kafka.move_follower import MoveFollower
from roma_client.metrics import NoMetrics
from roma_client.names.watcher import NameWatcher
from roma_client.records.moved import Followed
from roma_client.records.record import Record
from tests.support.clients.fake_consumer import (
    ASSIGNMENT_LOST,
    END_OF_PARTITION,
    FATAL,
    NO_OFFSET,
    SESSION,
    TIMED_OUT,
    FakeClock,
    FakeConsumer,
    FakeMessage,
    opened_feed,
)
from tests.support.clients.made_records import claimed_record, row_record

LATE = [KafkaError.UNKNOWN_MEMBER_ID, KafkaError.ILLEGAL_GENERATION, ASSIGNMENT_LOST]


def row(offset: int) -> Record:
    return row_record([{"id": str(offset)}], order=(1000, offset), offset=offset)


def statement(offset: int, order: tuple[int, int]) -> Record:
    made = row_record([{"id": "1"}], kind="ALTER", order=order, offset=offset)
    message = json.loads(made.value or b"") | {"data": None, "pkNames": None, "sql": "ALTER …"}
    return made._replace(key=None, value=json.dumps(message).encode())


def opened_changes(feed: Feed, idle_seconds: float | None = None) -> Changes:
    return Changes(feed, NoMetrics(), Mock(spec=NameWatcher), idle_seconds)


def polled(changes: Changes, times: int = 10) -> list[int]:
    """The offsets that so many polls hand out."""
    found = [changes.poll(0) for _ in range(times)]
    return [each.change.place.offset for each in found if each is not None]


def test_what_waits_while_the_broker_is_away_is_handed_out_when_it_is_back(
    consumer: FakeConsumer, clock: FakeClock
) -> None:
    changes = opened_changes(opened_feed(), idle_seconds=1)
    consumer.gives(*map(row, range(5)))
    assert polled(changes, 1) == [0]
    clock.now += SESSION
    consumer.refusal = TIMED_OUT
    assert polled(changes) == []
    clock.now += SESSION
    assert not changes.is_over()
    consumer.refusal = None
    consumer.gives(*map(row, range(5, 7)))
    assert polled(changes) == [1, 2, 3, 4, 5, 6]


def test_a_commit_that_blocked_longer_than_the_lease_proves_nothing_and_drops_nothing(
    consumer: FakeConsumer, clock: FakeClock
) -> None:
    changes = opened_changes(opened_feed())
    consumer.gives(row(0), row(1))
    assert polled(changes, 1) == [0]
    clock.now += SESSION

    def blocked() -> None:
        clock.now += SESSION

    consumer.on_commit = blocked
    assert polled(changes, 1) == []
    consumer.on_commit = lambda: None
    clock.now += 1
    assert polled(changes) == [1]


def test_a_member_that_joins_again_keeps_its_partitions(consumer: FakeConsumer) -> None:
    feed = opened_feed()
    changes = opened_changes(feed)
    consumer.refuses_later(KafkaError.REBALANCE_IN_PROGRESS)
    consumer.gives(row(0))
    assert polled(changes) == [0]


@pytest.mark.parametrize("refusal", LATE)
def test_a_refused_sharing_client_waits_until_the_group_tells_what_is_lost(
    consumer: FakeConsumer, clock: FakeClock, refusal: int
) -> None:
    feed = opened_feed()
    changes = opened_changes(feed)
    consumer.gives(row(0), row_record([{"id": "9"}], offset=9)._replace(partition=1), row(1))
    assert polled(changes, 1) == [0]
    consumer.refusal = refusal
    feed.commit(wait=True)
    assert (polled(changes), feed.is_active) == ([], True)

    def lose() -> list[FakeMessage]:
        feed.revoked([("shop", 1)], lost=True)
        consumer.refusal = None
        return []

    consumer.answers.append(lose)
    clock.now += 1
    assert polled(changes, 1) == []
    clock.now += 1
    assert polled(changes) == [1]


@pytest.mark.parametrize("refusal", LATE)
def test_a_refused_exclusive_client_drops_what_it_has(consumer: FakeConsumer, refusal: int) -> None:
    feed = opened_feed(exclusive=True)
    changes = opened_changes(feed)
    consumer.gives(row(0), row(1))
    assert polled(changes, 1) == [0]
    consumer.refuses_later(refusal)
    assert (polled(changes), feed.is_active) == ([], False)


def test_an_error_between_records_is_raised_and_loses_none_of_them(
    consumer: FakeConsumer,
) -> None:
    feed = opened_feed()
    expired, other = (
        FakeMessage(row(0)._replace(partition=1), KafkaError(code)) for code in (NO_OFFSET, FATAL)
    )
    consumer.gives(row(0), expired, row(1), other, row(2))
    with pytest.raises(RowsExpired, match="topic shop, partition 1"):
        feed.fetch(10, 0)
    assert [each.change.place.offset for each in feed.fetch(10, 0)] == [0, 1, 2]


def test_an_error_while_a_change_waits_does_not_lose_the_change(
    consumer: FakeConsumer, clock: FakeClock
) -> None:
    changes = opened_changes(opened_feed())
    consumer.gives(row(0), row(1))
    assert polled(changes, 1) == [0]
    clock.now += SESSION
    expired = KafkaError(NO_OFFSET)
    consumer.gives(FakeMessage(row(0)._replace(partition=1), expired))
    with pytest.raises(RowsExpired):
        changes.poll(0)
    assert polled(changes) == [1]


def test_statements_of_instances_that_share_a_partition_all_come(consumer: FakeConsumer) -> None:
    feed = opened_feed()
    consumer.gives(statement(0, (2000, 5)), statement(1, (1500, 9)))
    assert [each.change.place.offset for each in feed.fetch(10, 0)] == [0, 1]


def test_a_claim_that_is_gone_becomes_a_letter_and_one_that_cannot_be_read_now_does_not(
    consumer: FakeConsumer,
) -> None:
    claimed, _ = claimed_record({"id": "1"}, "s3://b/1")
    failures: list[Exception] = [TimeoutError("busy"), FileNotFoundError("no object")]

    def read(_: str) -> bytes:
        raise failures.pop(0)

    letters: list[int] = []
    feed = opened_feed(read, lambda record, _: letters.append(record.offset))
    consumer.gives(row(0), claimed._replace(offset=1), row(2))
    assert [each.change.place.offset for each in feed.fetch(10, 0)] == [0]
    failures.insert(0, TimeoutError("busy"))
    with pytest.raises(ClaimUnreadable, match="TimeoutError: busy"):
        feed.fetch(10, 0)
    assert letters == []
    assert [each.change.place.offset for each in feed.fetch(10, 0)] == [2]
    assert letters == [1]


@pytest.mark.parametrize("exclusive", [True, False])
def test_an_assignment_that_comes_while_the_client_leaves_is_not_begun(
    consumer: FakeConsumer, *, exclusive: bool
) -> None:
    """A closing consumer answers no question about offsets: to ask would wait in vain."""
    with opened_feed(exclusive=exclusive):
        pass
    assert consumer.callbacks, "it had joined"


def test_a_client_that_closes_while_the_group_rebalances_commits_before_it_leaves(
    consumer: FakeConsumer,
) -> None:
    with opened_feed() as feed:
        changes = opened_changes(feed)
        consumer.gives(row(0), row(1))
        assert polled(changes, 1) == [0]
        delivery = changes.poll(0)
        assert delivery is not None
        feed.ack(delivery.receipt._replace(offset=0))
        consumer.refusal = KafkaError.REBALANCE_IN_PROGRESS

        def joined() -> list[FakeMessage]:
            consumer.refusal = None
            return [FakeMessage(row(2))]

        consumer.answers.append(joined)
    assert consumer.committed["shop", 0] == 1


def test_a_client_that_is_refused_for_good_leaves_all_the_same(
    consumer: FakeConsumer, clock: FakeClock
) -> None:
    with opened_feed() as feed:
        consumer.gives(row(0))
        (delivery,) = feed.fetch(10, 0)
        feed.ack(delivery.receipt)
        consumer.refusal = KafkaError.REBALANCE_IN_PROGRESS

        def blocked() -> None:
            clock.now += 1

        consumer.on_commit = blocked
    assert consumer.committed["shop", 0] == 0
    assert "on_revoke" in consumer.callbacks, "it has left"


def test_a_tombstone_is_handed_out_only_without_the_message_of_its_delete(
    consumer: FakeConsumer,
) -> None:
    changes = opened_changes(opened_feed())
    deleted = row_record([{"id": "1"}], kind="DELETE", order=(1000, 1), offset=0)
    alone = row_record([{"id": "2"}], kind="DELETE", order=(1000, 2), offset=2)
    erased = alone._replace(value=None, offset=3, headers=())
    consumer.gives(deleted, deleted._replace(value=None, offset=1), alone._replace(value=None))
    consumer.gives(erased, row(4))
    assert polled(changes) == [0, 2, 4]


def test_an_idle_client_ends_only_when_it_has_read_its_partitions_to_their_ends(
    consumer: FakeConsumer, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of other tables may take longer than `idle_seconds`, and brokers may be away."""
    monkeypatch.setattr("roma_client.changes.time", clock)
    feed = opened_feed()
    changes = opened_changes(feed, idle_seconds=1)
    feed.has_joined = True
    ends = {0: 6, 1: 0}
    monkeypatch.setattr(consumer, "get_watermark_offsets", lambda at, **_: (0, ends[at.partition]))

    def end(partition: int, offset: int) -> FakeMessage:
        at = Record("shop", partition, offset, None, None, ())
        return FakeMessage(at, KafkaError(END_OF_PARTITION))

    def is_over() -> bool:
        assert polled(changes, 1) == []
        clock.now += 2
        return changes.is_over()

    assert not is_over(), "no end was met"
    consumer.gives(end(0, 5), end(1, 0))
    assert not is_over(), "a record has come since"
    consumer.gives(end(0, 6))
    monkeypatch.setattr(
        consumer, "get_watermark_offsets", Mock(side_effect=KafkaException(KafkaError(TIMED_OUT)))
    )
    assert not is_over(), "no broker answers"
    monkeypatch.setattr(consumer, "get_watermark_offsets", lambda at, **_: (0, ends[at.partition]))
    assert is_over()
    feed.revoked([("shop", 0)], lost=True)
    feed.assigned([TopicPartition("shop", 0, 6)])
    assert not is_over(), "the end was met by a former assignment"


def test_a_single_change_is_delivered_without_waiting_for_a_full_fetch(
    consumer: FakeConsumer, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kafka's client returns as soon as it has as many messages as it was asked for."""
    coming = [row(0), row(1), row(2)]

    def consume(limit: int, timeout_seconds: float) -> list[FakeMessage]:
        found = [FakeMessage(coming.pop(0)) for _ in range(min(limit, len(coming)))]
        clock.now += timeout_seconds if len(found) < limit else 0
        return found

    monkeypatch.setattr(consumer, "consume", consume)
    changes, began = opened_changes(opened_feed()), clock.now
    assert polled(changes, 3) == [0, 1, 2]
    coming.append(row(3))
    delivery = changes.poll(0.5)
    assert (delivery and delivery.change.place.offset, clock.now) == (3, began)
    assert (changes.poll(0.5), clock.now) == (None, began + 0.5)
    coming.clear()

    def comes_while_waiting(limit: int, timeout_seconds: float) -> list[FakeMessage]:
        coming.extend([row(4), row(5)] if timeout_seconds else [])
        return consume(limit, timeout_seconds)

    monkeypatch.setattr(consumer, "consume", comes_while_waiting)
    delivery = changes.poll(0.5)
    assert (delivery and delivery.change.place.offset, clock.now) == (4, began + 0.5)


def test_markers_among_the_newest_records_are_not_overdue(consumer: FakeConsumer) -> None:
    """A slow service reads a marker and later records of other tables at once."""
    feed = opened_feed(follow=Followed("shop", "orders", "shop"))
    feed.hear(moved=True)
    told = {"database": "shop", "topic": "shop", "to": ["next"], "set": 2, "version": 1}
    told |= {"instance": "a", "feeders": ["a"]}
    marked = row(0)._replace(value=None, key=None, headers=[("moved", json.dumps(told).encode())])
    heard = time.time()
    in_time = marked._replace(timestamp=heard + 5)
    consumer.gives(in_time, in_time._replace(partition=1), row(1)._replace(timestamp=heard + 5000))
    assert feed.fetch(10, 0) == []


def test_acknowledged_records_that_are_read_again_for_their_markers_are_passed_over() -> None:
    follower = MoveFollower(Followed("shop", "orders", "shop"), 600)
    at = ("shop", 0)
    marker = {"database": "shop", "topic": "shop", "to": ["next"], "set": 2, "version": 1}
    marked = Record("shop", 0, 1, None, None, [])._replace(
        headers=[("moved", json.dumps({**marker, "instance": "a", "feeders": ["a", "b"]}).encode())]
    )
    follower.begin(TopicPartition(*at, 0))
    follower.passes(marked)
    again = follower.again(TopicPartition(*at, 4))
    assert (again.offset, [follower.passes(row(each)) for each in (2, 3, 4)]) == (
        1,
        [True, True, False],
    )
