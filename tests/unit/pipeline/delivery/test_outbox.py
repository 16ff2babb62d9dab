"""The publisher continues during a pending commit; each message is in the same Kafka transaction
as the position record that includes it.
"""

import threading
from concurrent.futures import Future

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.errors import AskedToStop, BatchAborted, Fenced
from relay.model.message import OutboundMessage, PrintedMessages
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord
from relay.pipeline.buffer import ChangeBuffer
from relay.pipeline.delivery import outbox as module
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.pipeline.delivery.open_batch import OpenBatch
from relay.pipeline.delivery.outbox import Outbox
from relay.publish import BatchProducer
from relay.settings import BufferSettings

RECORD = PositionRecord(
    SourcePosition(BinlogPosition("b.1", 4), "", SourceIdentity("", 1, 0)),
    OrderPair(0, 0),
    epoch=0,
    change_time_ms=0,
)


class Broker(BatchProducer):
    """A producer whose commits complete when the test completes them.

    `batches`: the committed messages, one list for each Kafka transaction.
    """

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.current: list[str] = []
        self.unanswered: Future[None] | None = None

    @property
    def sent_messages(self) -> int:
        return len(self.current)

    @property
    def open_seconds(self) -> float:
        return 1.0 if self.current else 0.0

    def expect(self, partitions: int) -> None: ...

    def open(self) -> None:
        self.current = []

    def send(self, message: OutboundMessage) -> None:
        assert self.unanswered is None, "a producer has one transaction at a time"
        self.current.append(message.topic)

    def send_deletion(self, message: OutboundMessage) -> None:
        self.send(message)

    def send_printed(self, topic: str, messages: PrintedMessages) -> None:
        assert self.unanswered is None, "a producer has one transaction at a time"
        self.current.extend([topic] * messages.number)

    def commit(self, record: OutboundMessage) -> "Future[None]":
        self.send(record)
        self.unanswered = Future()
        return self.unanswered

    def answer(self, error: Exception | None = None) -> None:
        answered, self.unanswered = self.unanswered, None
        assert answered is not None
        if error is not None:
            answered.set_exception(error)
            return
        self.batches.append(self.current)
        self.current = []
        answered.set_result(None)

    def abort(self) -> None:
        self.current = []

    def close(self) -> None:
        self.current = []


def message(name: str) -> OutboundMessage:
    return OutboundMessage(name, 0, None, b"value", ())


def printed(count: int, value_bytes: int) -> PrintedMessages:
    return PrintedMessages(count, value_bytes, b"", ("order", "orders"), ())


def new_outbox(broker: Broker, stop: threading.Event | None = None) -> Outbox:
    return Outbox(
        broker, ChangeBuffer(BufferSettings()), InstanceStats(), stop or threading.Event()
    )


@given(
    steps=st.lists(
        st.sampled_from(["send", "deletion", "printed", "commit", "answer", "settle"]), max_size=60
    )
)
def test_each_batch_holds_what_was_sent_between_two_commits(steps: list[str]) -> None:
    broker = Broker()
    outbox = new_outbox(broker)
    wanted: list[list[str]] = [[]]
    for number, step in enumerate(steps):
        match step:
            case "send":
                outbox.send(message(f"m{number}"))
                wanted[-1].append(f"m{number}")
            case "deletion":
                outbox.send_deletion(message(f"d{number}"))
                wanted[-1].append(f"d{number}")
            case "printed":
                outbox.send_printed(f"m{number}", printed(2, 2))
                wanted[-1] += [f"m{number}"] * 2
            case "commit":
                if broker.unanswered is not None:
                    broker.answer()
                assert outbox.messages == len(wanted[-1])
                outbox.commit(message("record"), RECORD, OpenBatch())
                wanted[-1].append("record")
                wanted.append([])
            case "answer" if broker.unanswered is not None:
                broker.answer()
            case "settle":
                outbox.poll_commit()
    if broker.unanswered is not None:
        broker.answer()
    outbox.poll_commit()
    assert [*broker.batches, broker.current] == wanted


def test_too_much_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HELD_BYTES", 10)
    broker = Broker()
    outbox = new_outbox(broker)
    outbox.commit(message("record"), RECORD, OpenBatch())
    outbox.send_printed("m", printed(1, 10))
    answering = threading.Timer(0.05, broker.answer)
    answering.start()
    outbox.send(message("waits"))
    outbox.poll_commit()
    assert (outbox.committing, broker.current) == (False, ["m", "waits"])


@pytest.mark.parametrize("error", [Fenced("A newer one."), BatchAborted("Gone.")])
def test_what_ends_a_commit_is_raised_once(error: Exception) -> None:
    broker = Broker()
    outbox = new_outbox(broker)
    outbox.commit(message("record"), RECORD, OpenBatch())
    broker.answer(error)
    with pytest.raises(type(error)):
        outbox.poll_commit()
    outbox.await_commit()


@pytest.mark.slow
def test_a_stop_ends_the_wait_and_leaves_the_commit_unanswered() -> None:
    stop = threading.Event()
    stop.set()
    outbox = new_outbox(Broker(), stop)
    outbox.commit(message("record"), RECORD, OpenBatch())
    with pytest.raises(AskedToStop):
        outbox.await_commit()
    assert outbox.committing
