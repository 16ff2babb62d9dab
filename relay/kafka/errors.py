"""Kafka's errors become the relay's, here and nowhere else."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from confluent_kafka import KafkaError, KafkaException

from relay.errors import (
    BatchAborted,
    BrokerUnreachable,
    DeliveryRefused,
    Fenced,
    MessageTooLarge,
    RelayError,
    TopicRefused,
    TransactionsRefused,
)

_FENCED: Final = frozenset({"_FENCED", "PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH"})
_TOO_LARGE: Final = frozenset({"MSG_SIZE_TOO_LARGE", "RECORD_LIST_TOO_LARGE"})
_TRANSACTIONS_REFUSED: Final = frozenset(
    {
        "INVALID_TRANSACTION_TIMEOUT",
        "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
        "CLUSTER_AUTHORIZATION_FAILED",
        "UNSUPPORTED_FOR_MESSAGE_FORMAT",
        "UNSUPPORTED_VERSION",
    }
)
_TOPIC_REFUSED: Final = frozenset(
    {
        "UNKNOWN_TOPIC_OR_PART",
        "_UNKNOWN_TOPIC",
        "_UNKNOWN_PARTITION",
        "TOPIC_EXCEPTION",
        "INVALID_REPLICATION_FACTOR",
        "INVALID_PARTITIONS",
        "INVALID_CONFIG",
        "POLICY_VIOLATION",
    }
)
_REFUSED: Final = frozenset(
    {
        "TOPIC_AUTHORIZATION_FAILED",
        "GROUP_AUTHORIZATION_FAILED",
        "SASL_AUTHENTICATION_FAILED",
        "_AUTHENTICATION",
        "INVALID_RECORD",
    }
)
_UNREACHABLE: Final = frozenset(
    {
        "_TIMED_OUT",
        "_MSG_TIMED_OUT",
        "_TRANSPORT",
        "_ALL_BROKERS_DOWN",
        "_RESOLVE",
        "REQUEST_TIMED_OUT",
        "COORDINATOR_NOT_AVAILABLE",
        "COORDINATOR_LOAD_IN_PROGRESS",
        "NOT_ENOUGH_REPLICAS",
        "BROKER_NOT_AVAILABLE",
        "LEADER_NOT_AVAILABLE",
        "KAFKA_STORAGE_ERROR",
    }
)


def relay_error(error: KafkaError, doing: str) -> RelayError:
    """The leaf of the tree that tells what to do about `error`; the most specific cause first."""
    reason = f"{doing}: {error.str()} ({error.name()})."
    for names, leaf in (
        (_FENCED, Fenced),
        (_TOO_LARGE, MessageTooLarge),
        (_TRANSACTIONS_REFUSED, TransactionsRefused),
        (_TOPIC_REFUSED, TopicRefused),
        (_REFUSED, DeliveryRefused),
        (_UNREACHABLE, BrokerUnreachable),
    ):
        if error.name() in names:
            return leaf(reason)
    return BrokerUnreachable(reason) if error.retriable() else BatchAborted(reason)


def error_of(exception: KafkaException) -> KafkaError:
    """The KafkaError that a KafkaException carries."""
    error = exception.args[0]
    if not isinstance(error, KafkaError):
        raise exception
    return error


@contextmanager
def kafka_errors(doing: str) -> Iterator[None]:
    """Inside, KafkaException becomes the relay's error with `doing` as the beginning of its sentence."""
    try:
        yield
    except KafkaException as exc:
        raise relay_error(error_of(exc), doing) from exc
