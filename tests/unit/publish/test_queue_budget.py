"""The client's queue holds little, and more only for many partitions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.errors import BrokerUnreachable
from relay.model.message import OutboundMessage
from relay.publish.client_queue import ClientQueue
from relay.publish.producer_options import producer_options
from relay.publish.queue_budget import (
    MOST_BYTES,
    PARTITION_BYTES,
    QueueBudget,
    most_bytes,
    wanted_bytes,
)
from relay.settings import KafkaSettings, TransactionSettings

KAFKA = KafkaSettings(bootstrap_servers="127.0.0.1:1")


def test_few_partitions_hold_what_is_set_and_many_their_part_up_to_a_bound() -> None:
    held = {
        partitions: wanted_bytes(KAFKA, partitions)
        for partitions in (0, 1, 31, 64, 250, 256, 10_000)
    }
    assert held == {
        0: 4_000_000,
        1: 4_000_000,
        31: 4_000_000,
        64: 64 * PARTITION_BYTES,
        250: MOST_BYTES,
        256: MOST_BYTES,
        10_000: MOST_BYTES,
    }


def test_what_is_set_higher_holds_for_all() -> None:
    large = KAFKA.model_copy(update={"queue_bytes": 50_000_000})
    assert (
        {wanted_bytes(large, partitions) for partitions in (1, 256)}
        == {most_bytes(large)}
        == {50_000_000}
    )


def test_two_of_the_largest_messages_always_find_room() -> None:
    assert wanted_bytes(KAFKA.model_copy(update={"message_max_bytes": 20_000_000}), 1) == 40_000_000


@given(
    sizes=st.lists(
        st.tuples(st.integers(1, 5_000), st.integers(0, 20_000)), min_size=1, max_size=30
    ),
    waiting=st.integers(0, 100_000),
    partitions=st.integers(0, 300),
)
def test_no_more_fits_than_is_wanted(
    sizes: list[tuple[int, int]], waiting: int, partitions: int
) -> None:
    room = QueueBudget(KAFKA)
    room.expect(partitions)
    for messages, each in sizes:
        room.count(messages, messages * each)
    left = room.left(waiting)
    assert left >= (0 if waiting else 1)
    mean = sum(messages * each for messages, each in sizes) / sum(messages for messages, _ in sizes)
    if sum(messages for messages, _ in sizes) <= 20_000 and left > 1:
        assert (waiting + left) * mean <= wanted_bytes(KAFKA, partitions) + mean


def test_the_size_of_messages_is_learned_anew() -> None:
    room = QueueBudget(KAFKA)
    for size in (100, 10_000):
        for _ in range(200):
            room.count(1_000, 1_000 * size)
        assert abs(room.left(0) - 4_000_000 // size) <= 4_000_000 // size // 100


def test_deletions_are_counted_although_they_have_no_value() -> None:
    """Counted as nothing, a hundred thousand of them would lie in the client at once."""
    queue = ClientQueue(KAFKA, producer_options(KAFKA, TransactionSettings()))
    deletion = OutboundMessage("t", 0, b"key", None, ())

    def put_many() -> None:
        for _ in range(20_000):
            queue.put(deletion, lambda: True)

    with pytest.raises(BrokerUnreachable, match="was full"):
        put_many()
    assert 10_000 < len(queue.producer) < 17_000
    queue.producer.purge()
