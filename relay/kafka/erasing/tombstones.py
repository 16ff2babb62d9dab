"""Writes records without a value, which make Kafka remove the older records of their keys."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from relay.errors import BrokerUnreachable
from relay.kafka.client import client_configuration, kafka_client
from relay.kafka.erasing.rewrite_turn import RewriteTurn
from relay.kafka.erasing.topic_scan import ScannedRecord, scan_partition
from relay.kafka.errors import error_of, kafka_errors, relay_error
from relay.kafka.rights import Right
from relay.settings import KafkaSettings

_SECONDS: Final = 30.0
_TRANSACTION_MS: Final = 60_000


class Tombstone(NamedTuple):
    """A record without a value.

    headers  those of the deleted record: readers use the order in them to skip a known delete
    """

    partition: int
    key: bytes
    headers: tuple[tuple[str, bytes], ...] = ()


class TombstoneProducer:
    """Writes tombstones for the keys that got no new record since their topic was searched.

    If a key gets a record between the search and its tombstone, the transaction is aborted, and the
    tombstones of the other keys are written again. A tombstone therefore never deletes a newer row.
    `turn` is the exclusive right to rewrite topics; it gives the transactional id.
    """

    def __init__(self, kafka: KafkaSettings, turn: RewriteTurn) -> None:
        self._kafka = kafka
        self._turn = turn

    def write(
        self, topic: str, tombstones: Sequence[Tombstone], ends: Mapping[int, int]
    ) -> Sequence[Tombstone]:
        """Write tombstones, wait until Kafka has stored them, and return those that were written.

        `ends`: partition → offset up to which it was searched. A key with a later record is
        omitted. Raises BrokerUnreachable, KafkaNotPermitted, DeliveryRefused, and the errors of the
        turn.
        """
        searched = dict(ends)
        left = self._unused(topic, tombstones, searched, {})
        producer = self._ready_producer(topic) if left else None
        while producer is not None and left:
            with kafka_errors(f"Writing to {topic}", Right("Write", "topic", topic)):
                producer.begin_transaction()
                try:
                    places = self._produced(producer, topic, left)
                    still = self._unused(topic, left, searched, places)
                except BaseException:
                    _abort(producer)  # readers of the topic wait for its end
                    raise
                if len(still) == len(left):
                    producer.commit_transaction(_SECONDS)
                    return left
                producer.abort_transaction(_SECONDS)
            # Records of this aborted attempt must not count as records of another row.
            searched |= {partition: max(of) + 1 for partition, of in places.items()}
            left = still
        return left

    def _unused(
        self,
        topic: str,
        tombstones: Sequence[Tombstone],
        searched: dict[int, int],
        places: Mapping[int, Sequence[int]],
    ) -> Sequence[Tombstone]:
        """Return the tombstones whose keys have no later record.

        `places` are the offsets of the tombstones themselves.
        """
        used = set[tuple[int, bytes]]()
        for partition in sorted({each.partition for each in tombstones}):
            for record in self._added(topic, partition, searched, places.get(partition, ())):
                if record.key is not None:
                    used.add((partition, record.key))
        return [each for each in tombstones if (each.partition, each.key) not in used]

    def _added(
        self, topic: str, partition: int, searched: dict[int, int], own: Sequence[int]
    ) -> Iterable[ScannedRecord]:
        """Yield the records that other producers added to a partition before the last tombstone."""
        for record in scan_partition(self._kafka, topic, partition, searched.get(partition, 0)):
            if own and record.offset > max(own):
                return
            if not own:
                searched[partition] = record.offset + 1
            if record.offset not in own:
                yield record

    def _produced(
        self, producer: Producer, topic: str, tombstones: Iterable[Tombstone]
    ) -> dict[int, list[int]]:
        """Send tombstones, and return their offsets by partition."""
        refused: list[KafkaError] = []
        places: dict[int, list[int]] = {}

        def report(error: KafkaError | None, message: Message) -> None:
            partition, offset = message.partition(), message.offset()
            if error is not None:
                refused.append(error)
            elif partition is not None and offset is not None:
                places.setdefault(partition, []).append(offset)

        for each in tombstones:
            producer.produce(
                topic, None, each.key, each.partition, on_delivery=report, headers=[*each.headers]
            )
            producer.poll(0)
        if producer.flush(_SECONDS):
            raise BrokerUnreachable(f"{topic} did not accept tombstones within {_SECONDS:.0f} s.")
        if refused:
            raise relay_error(refused[0], f"Writing to {topic}", Right("Write", "topic", topic))
        return places

    def _ready_producer(self, topic: str) -> Producer:
        self._turn.check()  # a process that lost its turn must not fence its successor
        transactional_id = self._turn.transactional_id
        producer = kafka_client(
            Producer,
            {
                **client_configuration(self._kafka),
                "transactional.id": transactional_id,
                "transaction.timeout.ms": _TRANSACTION_MS,
                "message.timeout.ms": int(_SECONDS * 1000),
            },
        )
        right = Right("Write", "transactional-id", transactional_id)
        try:
            producer.init_transactions(_SECONDS)
        except KafkaException as exc:
            raise relay_error(error_of(exc), f"Writing to {topic}", right) from exc
        return producer


def _abort(producer: Producer) -> None:
    """Abort after an error; a transaction that Kafka cannot abort now ends by its timeout."""
    with suppress(KafkaException):
        producer.abort_transaction(_SECONDS)
