"""The buffer between decoding and publishing: order, bounds, and what each side sees of the
other.
"""

import threading

import pytest

from relay.errors import GoesToSpool, SourceUnreachable
from relay.model.change import Advance
from relay.model.positions.position import BinlogPosition, SourceIdentity
from relay.pipeline.buffer import BufferCursors, ChangeBuffer
from relay.settings import BufferSettings
from tests.support.waiting import wait_until

HERE = SourceIdentity("", 1, 0)


def item(number: int) -> Advance:
    return Advance(BinlogPosition("binlog.000001", number), HERE)


def small(size: int) -> ChangeBuffer:
    return ChangeBuffer(BufferSettings(buffer_size=size, batch_mode="ITEMSIZE"))


def test_items_change_hands_in_order_when_the_reader_is_about_to_wait() -> None:
    buffer = small(1024)
    for number in range(10):
        assert buffer.put(item(number), 0)
    assert not [*buffer.take(0)]
    assert buffer.hand_over()
    assert [*buffer.take(0)] == [item(number) for number in range(10)]
    assert buffer.empty
    buffer.ack(buffer.taken)
    assert buffer.cursors == BufferCursors(10, 10, 10, 0)


def test_a_full_step_changes_hands_by_itself() -> None:
    buffer = small(64)
    for number in range(4):
        buffer.put(item(number), 100)
    assert buffer.cursors == BufferCursors(put=4, get=0, ack=0, size_bytes=400)


def test_a_full_buffer_holds_the_reader_back_until_something_is_taken() -> None:
    buffer = small(16)
    done = threading.Event()

    def fill() -> None:
        for number in range(40):
            buffer.put(item(number), 0)
        buffer.hand_over()
        done.set()

    reader = threading.Thread(target=fill, daemon=True)
    reader.start()
    wait_until(lambda: buffer.cursors.put == 16, "a full buffer", 5)
    assert not done.is_set()
    taken: list[object] = []
    while len(taken) < 40:
        for one in buffer.take(1):
            taken.append(one)
            held = buffer.cursors
            assert held.put - held.get <= 16 + 1
    reader.join(5)
    assert taken == [item(number) for number in range(40)]


def test_an_item_that_is_larger_than_the_buffer_fits_alone() -> None:
    buffer = ChangeBuffer(
        BufferSettings(buffer_size=1, buffer_memunit_bytes=1, batch_mode="MEMSIZE")
    )
    assert buffer.put(item(1), 10_000_000)
    assert [*buffer.take(0)] == [item(1)]


def test_what_ended_the_reader_is_raised_behind_its_last_item() -> None:
    buffer = small(1024)
    buffer.put(item(1), 0)
    buffer.fail(SourceUnreachable("It hung up."))
    assert [*buffer.take(0)] == [item(1)]
    with pytest.raises(SourceUnreachable):
        buffer.take(0)


def test_a_closed_buffer_frees_a_waiting_reader() -> None:
    buffer = small(1)
    buffer.put(item(1), 0)
    answers: list[bool] = []
    reader = threading.Thread(target=lambda: answers.append(buffer.put(item(2), 0)), daemon=True)
    reader.start()
    buffer.close()
    reader.join(5)
    assert answers == [False]


def test_a_wake_ends_the_wait_once() -> None:
    buffer = small(8)
    found: list[object] = []
    taker = threading.Thread(target=lambda: found.append([*buffer.take(30)]), daemon=True)
    taker.start()
    buffer.wake()
    taker.join(5)
    assert found == [[]]


def test_what_waits_for_too_long_ends_the_putting_and_is_still_to_be_had() -> None:
    asked: list[float] = []

    def overdue(waited_s: float) -> bool:
        asked.append(waited_s)
        return waited_s >= 0.6

    buffer = ChangeBuffer(BufferSettings(buffer_size=16, batch_mode="ITEMSIZE"), overdue)
    taken: list[object] = []

    def fill() -> None:
        for number in range(40):
            buffer.put(item(number), 0)

    def drain() -> None:
        while True:
            taken.extend(buffer.take(1))

    with pytest.raises(GoesToSpool):
        fill()
    assert asked == sorted(asked)
    buffer.fail(GoesToSpool("It waits."))
    with pytest.raises(GoesToSpool):
        drain()
    assert taken == [item(number) for number in range(16)]
