"""Reads and writes the installation's audit topic. It has one partition and unlimited retention,
and entries are only appended.
"""

import socket
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

import structlog
from confluent_kafka import KafkaError, KafkaException, Message, Producer

from relay.audit.chain import (
    Chain,
    HeldEntry,
    OlderEntries,
    Reference,
    StoredEntry,
    newest_entries,
    value_digest,
)
from relay.audit.entry import AuditEntry
from relay.audit.kept_verdict import KeptVerdict
from relay.audit.verify import AuditVerdict, verify
from relay.errors import AuditUnreadable, BrokerUnreachable, RelayError
from relay.kafka import (
    KeyAndValue,
    PartitionReader,
    RewriteTurn,
    Rewritten,
    Right,
    TopicAdmin,
    TopicRewrite,
    TopicSpec,
    WantedTopic,
    client_configuration,
    error_of,
    kafka_client,
    relay_error,
    row_topic_findings,
)
from relay.model.message import OutboundMessage
from relay.model.names.own_topics import AUDIT
from relay.settings import KafkaSettings

_APPEND_SECONDS: Final = 15.0
_TAIL: Final = 500
"""A new chain searches this many offsets at the end for the newest entries of other chains."""
_READING_SECONDS: Final = 3.0
"""A new chain names no other entries if they cannot be read in this time."""

_log = structlog.stdlib.get_logger(__name__)


class AuditTrail:
    """Writes and reads the entries of the audit trail. Thread-safe.

    An entry can also be sent as `message`, in the Kafka transaction of the records that it
    describes. Each AuditTrail writes one chain (ADR 66), which ends if it is unknown whether Kafka
    has stored an entry. After an aborted transaction use a new AuditTrail.
    """

    def __init__(self, kafka: KafkaSettings, installation: str) -> None:
        self.topic = f"{installation}.{AUDIT}"
        self._kafka = kafka
        self._chain: Chain | None = None
        self._verified = KeptVerdict()
        self._lock = threading.RLock()

    def ensure_topic(self) -> None:
        """Create the topic if it is missing.

        Raises TopicRefused if the existing topic has settings under which entries would be lost.
        """
        wanted = WantedTopic.of(self._kafka, 1, "forever")
        spec = TopicSpec(self.topic, 1, wanted.replication_factor, wanted.settings)
        TopicAdmin(self._kafka).ensure(spec, lambda state: row_topic_findings(state, wanted))

    def begin_chain(self) -> None:
        """Read which entries the first entry of this trail's chain must name. Call it before a
        transaction.

        Without this call, creating the first entry causes the read.
        """
        with self._lock:
            self._own_chain()

    def _own_chain(self) -> Chain:
        if self._chain is None:
            self._chain = Chain(socket.gethostname(), self._seen())
        return self._chain

    def message(self, entry: AuditEntry) -> OutboundMessage:
        """Return the entry as a message, to be sent in a Kafka transaction."""
        with self._lock:
            value = self._own_chain().next(entry).to_bytes()
        return OutboundMessage(self.topic, 0, entry.subject.encode(), value, ())

    def append(self, entry: AuditEntry) -> None:
        """Write an entry and wait until Kafka has it.

        Raises BrokerUnreachable, TopicRefused, KafkaNotPermitted, DeliveryRefused.
        """
        self.ensure_topic()
        with self._lock:
            message, chain = self.message(entry), self._chain
            self._chain = None
            self._send(message)
            self._chain = chain

    def _send(self, message: OutboundMessage) -> None:
        refused: list[RelayError] = []

        def report(error: KafkaError | None, _: Message) -> None:
            if error is not None:
                refused.append(
                    relay_error(
                        error, f"Appending to {self.topic}", Right("Write", "topic", self.topic)
                    )
                )

        producer = self._producer()
        try:
            producer.produce(message.topic, message.value, message.key, message.partition, report)
        except KafkaException as exc:
            raise relay_error(error_of(exc), f"Appending to {self.topic}") from exc
        if producer.flush(_APPEND_SECONDS):
            raise BrokerUnreachable(
                f"{self.topic} did not accept an entry within {_APPEND_SECONDS:.0f} s."
            )
        if refused:
            raise refused[0]

    def entries(self, newest: int, subject: str | None = None) -> tuple[AuditEntry, ...]:
        """Return the `newest` newest entries, the newest first; with `subject` only entries about
        this subject.

        Records that are not entries are skipped. Raises AuditUnreadable, Unreachable.
        """
        return _newest(self._records()[1], newest, subject)

    def checked_entries(self, newest: int) -> tuple[tuple[AuditEntry, ...], AuditVerdict]:
        """Return the same as `entries`, and the result of `verify`, from one read of the topic.

        The result of the check is cached while the records do not change. Raises AuditUnreadable,
        Unreachable.
        """
        first, records = self._records()
        kept = list(records)
        return _newest(kept, newest, None), self._verified.verdict(kept, first)

    def verify(self, known: Iterable[Reference] = ()) -> AuditVerdict:
        """Check the chains of all entries, and that the entries in `known` exist. Return the
        result.

        Raises AuditUnreadable, Unreachable.
        """
        first, records = self._records()
        return verify(records, first, known)

    def holding(self, accepts: Callable[[bytes], bool]) -> tuple[HeldEntry, ...]:
        """Return the entries whose contents the function accepts.

        The contents are the JSON of `before`, `after` and the comment, as bytes.
        """
        found: dict[str, HeldEntry] = {}
        for _, value in self._records()[1]:
            with suppress(AuditUnreadable):
                stored = StoredEntry.from_bytes(value or b"")
                if accepts(stored.contents):
                    held = HeldEntry.of(stored, value or b"")
                    found[held.digest] = held
        return tuple(found.values())

    def erase(self, held: Iterable[HeldEntry], turn: RewriteTurn) -> Rewritten:
        """Rewrite the topic so that these entries have no contents; all others are unchanged.

        `turn` is the exclusive right to rewrite topics. Raises AuditUnreadable while an open
        transaction hides entries; then repeat the call.
        """
        digests = {each.digest for each in held}

        def without(record: KeyAndValue) -> KeyAndValue:
            key, value = record
            if value is None or value_digest(value) not in digests:
                return record
            return key, StoredEntry.from_bytes(value).without_contents().to_bytes()

        return TopicRewrite(self._kafka, self.topic, turn, AuditUnreadable).run(without)

    def _records(self) -> tuple[int, Iterable[tuple[int, bytes | None]]]:
        """Return the oldest offset, and offset and value of all committed records."""
        if TopicAdmin(self._kafka).state(self.topic) is None:
            return 0, ()
        reader = PartitionReader(self._kafka, self.topic, AuditUnreadable)
        first, high = reader.ends()
        return first, ((at, value) for at, _, value in reader.records(first, high))

    def _seen(self) -> list[Reference] | None:
        """Return the newest entries of other chains.

        If the topic has no chain yet: the digest of all entries. None: they cannot be read.
        """
        reader = PartitionReader(
            self._kafka,
            self.topic,
            AuditUnreadable,
            appearing_s=_READING_SECONDS,
            reading_s=_READING_SECONDS,
        )
        tail: list[StoredEntry] = []
        try:
            first, high = reader.ends()
            with suppress(AuditUnreadable):  # an open transaction hides the newest entries
                tail.extend(_stored(reader, max(first, high - _TAIL), high))
            found = newest_entries(tail)
            if found or first == high:
                return found
            older = OlderEntries()
            for _, value in reader.committed(first, high):
                older.add(value or b"")
            return older.references
        except RelayError as error:
            _log.warning("audit_references_not_read", code=error.code, reason=error.reason)
            return None

    def _producer(self) -> Producer:
        return kafka_client(
            Producer,
            {
                **client_configuration(self._kafka),
                "enable.idempotence": True,
                "acks": "all",
                "message.timeout.ms": int(_APPEND_SECONDS * 1000),
            },
        )


def _newest(
    records: Iterable[tuple[int, bytes | None]], newest: int, subject: str | None
) -> tuple[AuditEntry, ...]:
    kept: deque[AuditEntry] = deque(maxlen=newest)
    for _, value in records:
        with suppress(AuditUnreadable):
            entry = AuditEntry.from_bytes(value or b"")
            if subject is None or entry.subject == subject:
                kept.append(entry)
    return tuple(reversed(kept))


def _stored(reader: PartitionReader, start: int, high: int) -> Iterable[StoredEntry]:
    for _, value in reader.committed(start, high):
        with suppress(AuditUnreadable):
            yield StoredEntry.from_bytes(value or b"")
