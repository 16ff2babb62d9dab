"""The queue of the Kafka client library, and the functions that fill it.

The transactional and the idempotent producer use this module. The options of the Kafka client are
in `producer_options`.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import structlog
from confluent_kafka import KafkaError, KafkaException, Message, Producer, cimpl

from relay.compiled import COMPILED
from relay.errors import BrokerUnreachable, ClockAhead, Fenced, RelayError
from relay.kafka import (
    CLIENT_LOG,
    error_of,
    kafka_client,
    relay_error,
    write_log_lines,
)
from relay.model.message import HeaderList, OutboundMessage, PrintedMessages
from relay.publish.deliveries import Deliveries, refused_delivery
from relay.publish.fresh_password import keep_password_fresh
from relay.publish.queue_budget import QueueBudget
from relay.settings import KafkaSettings

if COMPILED:
    from relay.compiled.kafka_client import block_sender

# The relay processes delivery reports at least once per this number of messages, so that the
# client's queue does not fill with reports.
_MESSAGES_PER_POLL: Final = 500
# Pause before a full queue is tried again. The client sends only a small part of the queue in this
# time.
_FULL_QUEUE_POLL_SECONDS: Final = 0.002
_REPORTS_SECONDS: Final = 0.2
_DELETION_BYTES: Final = 256
"""Assumed size in bytes of a message without a value in the client's queue.

If such messages counted as zero bytes, the relay would queue a hundred thousand of them at one
time.
"""
_PLUGINS: Final = "plugin.library.paths"
_MAKING: Final = threading.Lock()

_log = structlog.stdlib.get_logger(__name__)


class ClientQueue:
    """A Kafka client and its queue. Compiled code queues whole blocks of messages; without it,
    messages are queued one by one.

    `commits_tell`: the commit of a transaction fails with the error of the refused message
    (librdkafka's INTRODUCTION, "Error handling in the transactional producer"). Then the client
    sends no delivery reports: for each report, the Python client would have to acquire the GIL.
    """

    def __init__(
        self, kafka: KafkaSettings, configuration: dict[str, Any], *, commits_tell: bool = False
    ) -> None:
        self.producer, self._sender = (
            _with_sender(configuration)
            if COMPILED
            else (kafka_client(Producer, configuration), None)
        )
        self.closed = False
        self.deliveries = Deliveries()
        self.budget = QueueBudget(kafka)
        self._commits_tell = commits_tell
        self._unpolled = 0
        keep_password_fresh(self, kafka, configuration.get("sasl.password"))

    @property
    def refusal(self) -> RelayError | None:
        """Return why the first undelivered message was not delivered."""
        found = None if self._sender is None else self._sender.refusal
        if self.deliveries.refusal is None and found is not None:
            code, topic, partition = found
            return refused_delivery(KafkaError(code), topic, partition)
        return self.deliveries.refusal

    @property
    def refused_at(self) -> tuple[str, int] | None:
        """Return topic and partition of the first undelivered message."""
        found = None if self._sender is None else self._sender.refusal
        if self.deliveries.refusal is None and found is not None:
            return found[1], found[2]
        return self.deliveries.refused_at

    def begin_batch(self) -> None:
        """Start counting the messages of a batch. Call it only when no message of an earlier batch
        is queued.
        """
        self.deliveries = Deliveries()
        if self._sender is not None:
            self._sender.forget_refusal()

    def put(self, message: OutboundMessage, too_late: Callable[[], bool]) -> None:
        """Queue one message; block while the queue is full.

        Raises KafkaException, or BrokerUnreachable if `too_late` returns True while the queue is
        full.
        """
        self.budget.count(1, len(message.value or b"") or _DELETION_BYTES)
        while not (self._left and self._took(message)):
            if too_late():
                raise BrokerUnreachable(
                    "The queue of the Kafka client was full for longer than transaction.timeout_ms."
                )
            with self._fatal_errors():
                self.producer.poll(_FULL_QUEUE_POLL_SECONDS)
        self._count(1)

    def put_printed(
        self, topic: str, messages: PrintedMessages, put_one: Callable[[OutboundMessage], None]
    ) -> None:
        """Queue messages of one topic.

        A message that the full queue has no space for, or that the client refuses, is passed to
        `put_one`.
        """
        if self._sender is None:
            for message in messages.each(topic):
                put_one(message)
        else:
            self._put_block(self._sender, topic, messages, put_one)

    def _put_block(
        self,
        sender: "block_sender.BlockSender",
        topic: str,
        messages: PrintedMessages,
        put_one: Callable[[OutboundMessage], None],
    ) -> None:
        self.budget.count(messages.number, messages.value_bytes)
        block, at = messages.block, 0
        while at < len(block):
            taken, at = sender.send(topic, block, at, self._left, messages.names, messages.tail)
            self._count(taken)
            if at < len(block):
                # `put_one` waits for space in the queue, or raises the error of the refused
                # message.
                message, at = messages.message_at(topic, at)
                put_one(message)

    def _took(self, message: OutboundMessage) -> bool:
        headers: HeaderList = [*message.headers]
        try:
            # Positional arguments (no second callback, no timestamp): keyword arguments would take
            # a tenth of the time of the call.
            self.producer.produce(
                message.topic,
                message.value,
                message.key,
                message.partition,
                self._report,
                None,
                0,
                headers,
            )
        except BufferError:
            return False
        return True

    def check(self) -> None:
        """Raise an error unless every message of the batch was delivered."""
        waiting = self.flush(0)
        if waiting:  # a log line of the client counts as a queued message too
            waiting = self.flush(0)
        if refusal := self.refusal:
            raise refusal
        self.deliveries.check(waiting)

    def flush(self, seconds: float) -> int:
        """Process delivery reports for at most `seconds`; return how many messages the client still
        holds.

        Raises the error that ended the client.
        """
        with self._fatal_errors():
            return self.producer.flush(seconds)

    def purge(self) -> None:
        """Drop queued messages without waiting, and write the client's last log lines.

        These lines contain the reason of the failure.
        """
        self.closed = True
        self.producer.purge(in_queue=True, in_flight=True, blocking=False)
        write_log_lines(self.producer)

    @property
    def _left(self) -> int:
        """Return how many more messages the client's queue accepts."""
        return self.budget.left(len(self.producer))

    @property
    def _report(self) -> Callable[[KafkaError | None, Message], None] | None:
        """Return the delivery callback of single messages.

        None if the compiled sender, or the commit, reports every refusal.
        """
        return self.deliveries.report if self._sender is None and not self._commits_tell else None

    def _count(self, messages: int) -> None:
        self.deliveries.sent += messages
        self._unpolled += messages
        if self._unpolled >= _MESSAGES_PER_POLL:
            self._unpolled = 0
            with self._fatal_errors():
                self.producer.poll(0)

    @contextmanager
    def _fatal_errors(self) -> Iterator[None]:
        """Context manager: turn a fatal error of the client into the relay's error, or into the
        refusal of the message that caused it.

        The Python client raises such an error once, instead of calling the report callbacks. The
        next call processes the reports.
        """
        try:
            yield
        except KafkaException as exc:
            self.producer.flush(_REPORTS_SECONDS)
            found = relay_error(error_of(exc), "Delivering")
            raise (
                found if isinstance(found, Fenced | ClockAhead) else self.refusal or found
            ) from exc


def _with_sender(
    configuration: dict[str, Any],
) -> "tuple[Producer, block_sender.BlockSender | None]":
    """Create the client with the compiled sender as its plugin, or without it if this build of the
    client has no plugin support.
    """
    try:
        block_sender.load(cimpl.__file__)
        plugins = ";".join(filter(None, [configuration.get(_PLUGINS), block_sender.__file__]))
        with _MAKING:  # the sender attaches to the client that was created last
            producer = Producer({**configuration, _PLUGINS: plugins}, logger=CLIENT_LOG)
            return producer, block_sender.BlockSender(producer)
    except (OSError, KafkaException) as exc:
        _log.warning("messages_are_handed_over_one_by_one", reason=str(exc))
        return kafka_client(Producer, configuration), None
