"""Records without a value, which make Kafka remove the older records of their keys."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from relay.errors import BrokerUnreachable
from relay.kafka.client import client_configuration, kafka_client
from relay.kafka.errors import error_of, relay_error
from relay.kafka.rights import Right
from relay.settings import KafkaSettings

_SECONDS: Final = 30.0


class Tombstone(NamedTuple):
    """A record without a value.

    headers  of the record that it follows: by their order, readers skip a delete that they have
    """

    partition: int
    key: bytes
    headers: tuple[tuple[str, bytes], ...] = ()


class TombstoneProducer:
    """Writes tombstones, outside of any transaction."""

    def __init__(self, kafka: KafkaSettings) -> None:
        self._producer = kafka_client(
            Producer,
            {
                **client_configuration(kafka),
                "enable.idempotence": True,
                "acks": "all",
                "message.timeout.ms": int(_SECONDS * 1000),
            },
        )

    def write(self, topic: str, tombstones: Iterable[Tombstone]) -> None:
        """Write tombstones, and wait until Kafka has all of them.

        Raises BrokerUnreachable, KafkaNotPermitted, DeliveryRefused.
        """
        refused: list[KafkaError] = []

        def report(error: KafkaError | None, _: Message) -> None:
            if error is not None:
                refused.append(error)

        right = Right("Write", "topic", topic)
        try:
            for each in tombstones:
                self._producer.produce(
                    topic,
                    None,
                    each.key,
                    each.partition,
                    on_delivery=report,
                    headers=[*each.headers],
                )
                self._producer.poll(0)
        except KafkaException as exc:
            raise relay_error(error_of(exc), f"Writing to {topic}", right) from exc
        if self._producer.flush(_SECONDS):
            raise BrokerUnreachable(f"{topic} did not take tombstones within {_SECONDS:.0f} s.")
        if refused:
            raise relay_error(refused[0], f"Writing to {topic}", right)
