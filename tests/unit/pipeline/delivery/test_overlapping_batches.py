"""Two Kafka transactions under way: a batch is handed over when the brokers have every message of
the one before, and at most one commit is unanswered behind an unanswered one.
"""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.errors import Fenced
from relay.model.message import OutboundMessage, PrintedMessages
from relay.pipeline.buffer import ChangeBuffer
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.pipeline.delivery.open_batch import OpenBatch
from relay.pipeline.delivery.outbox import Closing, Outbox
from relay.publish import BatchProducer
from relay.settings import BufferSettings
from tests.unit.pipeline.delivery.test_outbox import RECORD, message, printed


@dataclass
class Closed:
    """A batch whose commit was asked for."""

    messages: list[str]
    free: Callable[[], object] | None
    acknowledged: bool = False
    answer: "Future[None]" = field(default_factory=Future)


class TwoIds(BatchProducer):
    """A producer of two ids; the test lets brokers acknowledge and answer.

    `log` is what the partitions hold, in their order; `batches` what is committed.
    """

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.current: list[str] = []
        self.closed: deque[Closed] = deque()
        self.log: list[str] = []

    @property
    def sent_messages(self) -> int:
        return len(self.current)

    @property
    def open_seconds(self) -> float:
        return 1.0 if self.current or self.closed else 0.0

    @property
    def overlaps(self) -> bool:
        return bool(self.closed) and self.closed[-1].acknowledged

    def expect(self, partitions: int) -> None: ...

    def open(self) -> None: ...

    def send(self, message: OutboundMessage) -> None:
        self._take([message.topic])

    def send_deletion(self, message: OutboundMessage) -> None:
        self.send(message)

    def send_printed(self, topic: str, messages: PrintedMessages) -> None:
        self._take([topic] * messages.number)

    def _take(self, topics: list[str]) -> None:
        assert len(self.closed) < 2, "two ids have two transactions at a time"
        assert all(each.acknowledged for each in self.closed), "order within a partition"
        self.current += topics
        self.log += topics

    def commit(self, record: OutboundMessage) -> "Future[None]":
        return self._close(record, None)

    def commit_overlapping(
        self, record: OutboundMessage, free: Callable[[], object]
    ) -> "Future[None]":
        return self._close(record, free)

    def _close(self, record: OutboundMessage, free: Callable[[], object] | None) -> "Future[None]":
        self.send(record)
        self.closed.append(Closed(self.current, free))
        self.current = []
        return self.closed[-1].answer

    def acknowledge(self) -> None:
        if self.closed and (free := self.closed[-1].free) is not None:
            self.closed[-1].acknowledged = True
            free()

    def answer(self, error: Exception | None = None) -> None:
        done = self.closed.popleft()
        if error is not None:
            done.answer.set_exception(error)
            return
        self.batches.append(done.messages)
        done.answer.set_result(None)

    def abort(self) -> None: ...

    def close(self) -> None: ...


def new_outbox(producer: TwoIds) -> Outbox:
    return Outbox(producer, ChangeBuffer(BufferSettings()), InstanceStats(), threading.Event())


_CLOSINGS = {"commit": Closing.OVERLAPPING, "alone": Closing.ALONE}
_STEPS = st.sampled_from(
    ["send", "printed", "commit", "alone", "acknowledge", "answer", "poll", "poll"]
)


@given(steps=st.lists(_STEPS, max_size=60))
def test_batches_follow_one_another_in_log_and_commits(steps: list[str]) -> None:
    producer = TwoIds()
    outbox = new_outbox(producer)
    wanted: list[list[str]] = [[]]
    for number, step in enumerate(steps):
        match step:
            case "send":
                outbox.send(message(f"m{number}"))
                wanted[-1].append(f"m{number}")
            case "printed":
                outbox.send_printed(f"m{number}", printed(2, 2))
                wanted[-1] += [f"m{number}"] * 2
            case "commit" | "alone" if not outbox.full:
                assert outbox.messages == len(wanted[-1])
                outbox.commit(message("record"), RECORD, OpenBatch(), closing=_CLOSINGS[step])
                wanted[-1].append("record")
                wanted.append([])
            case "acknowledge":
                producer.acknowledge()
            case "answer" if producer.closed:
                producer.answer()
            case "poll":
                outbox.poll_commit()
        assert outbox.committing >= bool(producer.closed)
    while producer.closed:
        producer.answer()
    outbox.poll_commit()
    assert not outbox.committing
    assert [*producer.batches, producer.current] == wanted
    assert producer.log == [each for batch in wanted for each in batch]


def test_the_next_batch_is_handed_over_once_the_last_one_is_acknowledged() -> None:
    producer = TwoIds()
    outbox = new_outbox(producer)
    outbox.commit(message("record"), RECORD, OpenBatch())
    outbox.send(message("next"))
    outbox.poll_commit()
    assert (outbox.full, producer.current, outbox.messages) == (True, [], 1)
    producer.acknowledge()
    outbox.poll_commit()
    assert (outbox.full, producer.current, outbox.messages) == (False, ["next"], 1)
    outbox.commit(message("record"), RECORD, OpenBatch())
    assert (outbox.full, outbox.messages) == (True, 0)
    producer.acknowledge()
    assert outbox.full, "a third transaction would need a third id"
    producer.answer()
    outbox.poll_commit()
    assert not outbox.full


def test_a_batch_alone_is_answered_before_the_next_one_is_handed_over() -> None:
    producer = TwoIds()
    outbox = new_outbox(producer)
    outbox.commit(message("record"), RECORD, OpenBatch(), closing=Closing.ALONE)
    producer.acknowledge()
    outbox.send(message("next"))
    outbox.poll_commit()
    assert producer.current == []
    producer.answer()
    outbox.poll_commit()
    assert producer.current == ["next"]


def test_the_first_failure_is_raised() -> None:
    producer = TwoIds()
    outbox = new_outbox(producer)
    outbox.commit(message("record"), RECORD, OpenBatch())
    producer.acknowledge()
    outbox.commit(message("record"), RECORD, OpenBatch())
    producer.answer(Fenced("A newer one."))
    producer.answer(Fenced("Behind it."))
    with pytest.raises(Fenced, match="A newer one"):
        outbox.await_commit()
