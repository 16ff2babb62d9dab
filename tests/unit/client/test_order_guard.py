"""For each key only a greater order is new."""

import pytest
from confluent_kafka import TopicPartition
from hypothesis import given
from hypothesis import strategies as st

from roma_client.kafka.feed import Feed
from roma_client.records.change import Order
from roma_client.records.delivery import Delivery
from roma_client.records.order_guard import OrderGuard
from roma_client.records.record import Record
from tests.support.clients.fake_consumer import FakeConsumer, opened_feed
from tests.support.clients.made_records import row_record

AT = ("shop", 0)
CHANGES = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)))


@given(CHANGES)
def test_what_passes_rises_for_each_key_and_ends_with_the_newest(
    changes: list[tuple[str, int]],
) -> None:
    guard = OrderGuard()
    passed = [
        (key, position)
        for key, position in changes
        if guard.is_new(AT, key, Order(1000, position), 0)
    ]
    for each in "abc":
        orders = [position for key, position in passed if key == each]
        given_orders = [position for key, position in changes if key == each]
        assert orders == sorted(set(orders))
        assert not given_orders or orders[-1] == max(given_orders)
    assert guard.dropped == len(changes) - len(passed)


def test_a_forgotten_partition_is_delivered_again_and_others_are_not() -> None:
    guard, other = OrderGuard(), ("shop", 1)
    assert guard.is_new(AT, "a", Order(1, 1), 0)
    assert guard.is_new(other, "b", Order(1, 2), 1)
    guard.forget(AT)
    assert guard.is_new(AT, "a", Order(1, 1), 0)
    assert not guard.is_new(other, "b", Order(1, 2), 1)


def test_a_rewound_partition_has_what_came_before_the_offset() -> None:
    guard = OrderGuard()
    for offset, key in enumerate("abc"):
        assert guard.is_new(AT, key, Order(1, offset), offset)
    guard.rewind(AT, 2)
    assert not guard.is_new(AT, "a", Order(1, 0), 2)
    assert not guard.is_new(AT, "b", Order(1, 1), 2)
    assert guard.is_new(AT, "c", Order(1, 2), 2)


def test_memory_is_bounded_by_forgetting_the_key_that_changed_longest_ago() -> None:
    guard = OrderGuard(keys=2)
    for position, key in enumerate("abc"):
        assert guard.is_new(AT, key, Order(1, position), 0)
    assert guard.is_new(AT, "a", Order(1, 0), 0)
    assert not guard.is_new(AT, "c", Order(1, 2), 1)


@pytest.mark.parametrize("tombstone", [True, False])
def test_a_copy_of_the_change_before_the_commit_is_not_handed_out_after_a_restart(
    consumer: FakeConsumer, monkeypatch: pytest.MonkeyPatch, *, tombstone: bool
) -> None:
    """A tombstone after its delete, or the message for a second tag (`field_tags`)."""
    notes: dict[tuple[str, int], tuple[int, str | None]] = {}

    def commit(offsets: list[TopicPartition], **_: object) -> list[TopicPartition]:
        notes.update({(e.topic, e.partition): (e.offset, e.metadata) for e in offsets})
        return offsets

    monkeypatch.setattr(consumer, "commit", commit)
    first = row_record([{"id": "1"}], kind="DELETE", order=(1000, 1), offset=0, tags=["orders"])
    other = row_record([{"id": "2"}], order=(1000, 1), offset=2)
    copy = row_record([{"id": "1"}], kind="DELETE", order=(1000, 1), offset=1, tags=["paid"])
    feed = opened_feed()
    (delivery,) = fetched(consumer, feed, first)
    feed.commit(wait=True)
    assert "last" not in (notes["shop", 0][1] or ""), "it is not acknowledged yet"
    feed.ack(delivery.receipt)
    feed.commit(wait=True)
    noted = notes["shop", 0]
    for _ in range(2):  # a client that ends without a record hands the note on
        feed = opened_feed()
        feed.assigned([TopicPartition("shop", 0, *noted)])
        noted = notes["shop", 0]
    copy = copy._replace(value=None) if tombstone else copy
    assert [e.change.key for e in fetched(consumer, feed, copy, other)] == ['["shop.orders","2"]']
    assert "shop.orders" not in str(notes), "commits hold no key"


@pytest.mark.parametrize("tombstone", [True, False])
def test_a_copy_of_the_acknowledged_change_is_not_handed_out_after_a_rollback(
    consumer: FakeConsumer, monkeypatch: pytest.MonkeyPatch, *, tombstone: bool
) -> None:
    """Also after a rollback before the first change of an assignment."""
    monkeypatch.setattr(consumer, "incremental_assign", lambda _: None, raising=False)
    monkeypatch.setattr(consumer, "incremental_unassign", lambda _: None, raising=False)
    first = row_record([{"id": "1"}], kind="DELETE", order=(1000, 1), offset=0, tags=["orders"])
    copy = row_record([{"id": "1"}], kind="DELETE", order=(1000, 1), offset=1, tags=["paid"])
    copy = copy._replace(value=None) if tombstone else copy
    other = row_record([{"id": "2"}], order=(1000, 1), offset=2)
    feed = opened_feed()
    (delivery,) = fetched(consumer, feed, first)
    feed.rewind()
    (delivery,) = fetched(consumer, feed, first)
    feed.ack(delivery.receipt)
    note = feed.note(("shop", 0), 1)
    for _ in range(2):
        feed.rewind()
        found = fetched(consumer, feed, copy, other)
        assert [each.change.key for each in found] == ['["shop.orders","2"]']
    feed = opened_feed()
    feed.assigned([TopicPartition("shop", 0, 1, note)])
    for _ in range(2):
        found = fetched(consumer, feed, copy, other)
        assert [each.change.key for each in found] == ['["shop.orders","2"]']
        feed.rewind()


def fetched(consumer: FakeConsumer, feed: Feed, *records: Record) -> list[Delivery]:
    consumer.gives(*records)
    return feed.fetch(10, 0)
