"""Kafka's side of transactions in memory: the newest producer of an instance fences older ones."""

from collections.abc import Callable
from concurrent.futures import Future

from relay.errors import Fenced
from relay.model.message import OutboundMessage, PrintedMessages
from relay.model.records.position_record import PositionRecord
from relay.publish import BatchProducer


class MemoryKafka:
    """What consumers see, and the position record of the last visible batch.

    While `holds` is True, commits are not answered: `apply` or `refuse` does it.
    """

    def __init__(self, record: PositionRecord | None) -> None:
        self.record = record
        self.visible: list[list[OutboundMessage]] = []
        self.owner: MemoryProducer | None = None
        self.holds = False
        self.unanswered: tuple[Future[None], list[OutboundMessage]] | None = None
        self.records: list[PositionRecord] = []

    def note(self, record: PositionRecord) -> OutboundMessage:
        """Return the message that stands for a position record."""
        self.records.append(record)
        return OutboundMessage("position", 0, None, str(len(self.records) - 1).encode(), ())

    def apply(self) -> None:
        """Answer the held commit: its batch is visible."""
        answer, batch = self._held()
        self.show(batch)
        answer.set_result(None)

    def refuse(self, error: Exception) -> None:
        """Answer the held commit with an error: its batch is aborted."""
        self._held()[0].set_exception(error)

    def show(self, batch: list[OutboundMessage]) -> None:
        """Make a batch and its position record visible."""
        self.visible.append(batch)
        self.record = self.records[int(batch[-1].value or b"")]

    def topics(self) -> list[list[str]]:
        """Return the topics of the messages of each visible batch, without the position record."""
        return [[each.topic for each in batch[:-1]] for batch in self.visible]

    def _held(self) -> tuple["Future[None]", list[OutboundMessage]]:
        held, self.unanswered = self.unanswered, None
        assert held is not None, "no commit is held"
        return held


class MemoryProducer(BatchProducer):
    """A producer of one instance. It notes its calls in `journal`; `on_abort` may raise."""

    def __init__(self, kafka: MemoryKafka, journal: list[str]) -> None:
        self._kafka = kafka
        self._journal = journal
        self._batch: list[OutboundMessage] = []
        self.on_abort: Callable[[], None] = lambda: None
        self.before_open: Callable[[], None] = lambda: None

    @property
    def sent_messages(self) -> int:
        return len(self._batch)

    @property
    def open_seconds(self) -> float:
        return 1.0 if self._batch else 0.0

    def expect(self, partitions: int) -> None: ...

    def open(self) -> None:
        self._journal.append("producer opens")
        self.before_open()
        self._kafka.owner = self

    def send(self, message: OutboundMessage) -> None:
        self._batch.append(message)

    def send_deletion(self, message: OutboundMessage) -> None:
        self.send(message)

    def send_printed(self, topic: str, messages: PrintedMessages) -> None:
        for each in messages.each(topic):
            self.send(each)

    def commit(self, record: OutboundMessage) -> "Future[None]":
        self._journal.append("commit")
        batch, self._batch = [*self._batch, record], []
        answer: Future[None] = Future()
        if self._kafka.owner is not self:
            answer.set_exception(Fenced("Another producer of the instance was opened."))
        elif self._kafka.holds:
            self._kafka.unanswered = answer, batch
        else:
            self._kafka.show(batch)
            answer.set_result(None)
        return answer

    def abort(self) -> None:
        self._journal.append("abort")
        self._batch = []
        self.on_abort()
        if self._kafka.owner is not self:
            raise Fenced("Another producer of the instance was opened.")

    def close(self) -> None:
        self._journal.append("producer closes")
