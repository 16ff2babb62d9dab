"""Creates the producers of an instance, and fences those of older relays by their transactional
ids.
"""

from collections.abc import Callable
from contextlib import closing

from relay.errors import KafkaNotPermitted, PositionNewer, PositionUnreadable
from relay.model.records.position_record import PositionRecord
from relay.publish import (
    AlternatingProducer,
    BatchProducer,
    IdempotentProducer,
    TransactionalProducer,
)
from relay.settings import InstanceSettings, KafkaSettings


def new_producer(prefix: str, kafka: KafkaSettings, instance: InstanceSettings) -> BatchProducer:
    """Return the producer of an instance's rows, according to its settings.

    The transactional ids follow from the instance and from `prefix`, the installation's prefix of
    such ids.
    """
    if instance.transaction.overlaps:
        ids = transactional_id(prefix, instance), second_transactional_id(prefix, instance)
        return AlternatingProducer(kafka, instance.transaction, ids)
    return single_producer(prefix, kafka, instance)


def single_producer(prefix: str, kafka: KafkaSettings, instance: InstanceSettings) -> BatchProducer:
    """Return a producer with one transaction at a time, under the instance's first transactional
    id. `prefix` is the installation's.
    """
    name = transactional_id(prefix, instance)
    if instance.transaction.delivery == "at_least_once":
        return IdempotentProducer(kafka, instance.transaction, name)
    return TransactionalProducer(kafka, instance.transaction, name)


def fenced_record(
    prefix: str,
    kafka: KafkaSettings,
    instance: InstanceSettings,
    read: Callable[[], PositionRecord | None],
) -> PositionRecord | None:
    """Return the position record, when no older relay can change it any more.

    prefix    the installation's prefix of transactional ids
    kafka     how to connect to Kafka
    instance  the settings of the instance
    read      reads the position record

    Call it after the first transactional id is fenced. The second id is fenced too, and the record
    is read again, in three cases: the record says that the second id may be in use, the settings
    require two ids, or an open Kafka transaction hides the record. With `delivery =
    "at_least_once"` nothing is fenced. Raises the errors of `read` and of opening a producer.
    """
    if instance.transaction.delivery == "at_least_once":
        return read()
    try:
        record = read()
    except PositionNewer:
        raise
    except PositionUnreadable as hidden:
        return _read_again(prefix, kafka, instance, read, hidden)
    used = record is not None and record.second_id
    if used or instance.transaction.overlaps:
        fence_second(prefix, kafka, instance)
        return read()
    return record


def _read_again(
    prefix: str,
    kafka: KafkaSettings,
    instance: InstanceSettings,
    read: Callable[[], PositionRecord | None],
    hidden: PositionUnreadable,
) -> PositionRecord | None:
    try:
        fence_second(prefix, kafka, instance)
    except KafkaNotPermitted:  # the principal has one id, so no relay of it used another
        raise hidden from None
    return read()


def uses_second_id(instance: InstanceSettings, record: PositionRecord) -> bool:
    """Return the value of `second_id` for the records of a run that continues from `record`:
    whether a producer with the second transactional id may still exist.

    A run with one id has fenced the second one, so the value is False. Without transactions nothing
    is fenced, so the value of `record` stays.
    """
    if instance.transaction.delivery == "at_least_once":
        return record.second_id
    return instance.transaction.overlaps


def fence_second(prefix: str, kafka: KafkaSettings, instance: InstanceSettings) -> None:
    """Fence every producer with the instance's second transactional id. Raises the errors of
    opening a producer.
    """
    name = second_transactional_id(prefix, instance)
    with closing(TransactionalProducer(kafka, instance.transaction, name)) as producer:
        producer.open()


def transactional_id(prefix: str, instance: InstanceSettings) -> str:
    """Return the transactional id of the first producer. It begins with the installation's
    `prefix`.

    A second id is used only if `transaction.producers` is 2.
    """
    return f"{prefix}.{instance.name}"


def second_transactional_id(prefix: str, instance: InstanceSettings) -> str:
    """Return the id of the second producer, which is used if `transaction.producers` is 2."""
    return f"{prefix}.second.{instance.name}"
