"""The only module that translates Kafka's errors into the relay's errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from confluent_kafka import KafkaError, KafkaException

from relay.errors import (
    BatchAborted,
    BrokerUnreachable,
    ClockAhead,
    DeliveryRefused,
    Fenced,
    KafkaNotPermitted,
    MessageTooLarge,
    RelayError,
    ResourcesExhausted,
    TopicRefused,
    TransactionsRefused,
)
from relay.kafka.rights import NOT_PERMITTED, Right, remedy_of

_TIMESTAMP: Final = "INVALID_TIMESTAMP"
_TIMESTAMP_TEXT: Final = "Invalid timestamp"
"""Text by which the client describes the same error inside a fatal error."""
_EXHAUSTED: Final = frozenset({"_CRIT_SYS_RESOURCE"})
_FENCED: Final = frozenset({"_FENCED", "PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH"})
_TOO_LARGE: Final = frozenset({"MSG_SIZE_TOO_LARGE", "RECORD_LIST_TOO_LARGE"})
_REMEDIES: Final = {
    "INVALID_REPLICATION_FACTOR": (
        "Set kafka.replication_factor to the number of brokers or less, and "
        "kafka.min_insync_replicas below it: both 1 on a single broker."
    ),
    "TOPIC_EXCEPTION": (
        "Give one of the topics another name (document topics, or tbs where a pattern has "
        "{table}): Kafka refuses names that differ only in dots and underscores."
    ),
    "POLICY_VIOLATION": (
        "Create the topic as the policy of the brokers requires (docs/operations/kafka.md has the "
        "settings that the relay needs), or change the policy, topic.rules or partitions_num."
    ),
}
"""Remedies of errors whose class has only a general remedy."""
_TRANSACTIONS_REFUSED: Final = frozenset(
    {
        "INVALID_TRANSACTION_TIMEOUT",
        "UNSUPPORTED_FOR_MESSAGE_FORMAT",
        "UNSUPPORTED_VERSION",
    }
)
UNKNOWN_TOPICS: Final = frozenset({"UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC", "_UNKNOWN_PARTITION"})
"""Errors that mean that a topic or partition does not exist."""
_TOPIC_REFUSED: Final = UNKNOWN_TOPICS | {
    "TOPIC_EXCEPTION",
    "INVALID_REPLICATION_FACTOR",
    "INVALID_PARTITIONS",
    "INVALID_CONFIG",
    "POLICY_VIOLATION",
}
_NO_BROKER_YET: Final = ("brokers are currently fenced", "available brokers: 0")
"""Texts of INVALID_REPLICATION_FACTOR while brokers start and the controller has no brokers yet.

Sources: Apache Kafka, StripedReplicaPlacer (KRaft) and AdminUtils (ZooKeeper).
"""
_REFUSED: Final = frozenset(
    {
        "SASL_AUTHENTICATION_FAILED",
        "_AUTHENTICATION",
        "INVALID_RECORD",
    }
)
_UNREACHABLE: Final = frozenset(
    {
        "_TIMED_OUT",
        "_TIMED_OUT_QUEUE",
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


RECHECKED: Final = (
    "No action is needed yet: the relay checks its topics again, and stops with an error code "
    "if it must not create the topic again."
)


def relay_error(error: KafkaError, doing: str, right: Right | None = None) -> RelayError:
    """Return the relay's error for `error`. The most specific cause has priority.

    `right` is the right that the principal lacks if the brokers deny access.
    """
    reason = f"{doing}: {error.str()} ({error.name()})."
    if error.name() == _TIMESTAMP or (error.fatal() and _TIMESTAMP_TEXT in error.str()):
        return ClockAhead(reason)
    if error.name() in NOT_PERMITTED:
        return KafkaNotPermitted(reason, remedy=remedy_of(right))
    if error.name() == "INVALID_REPLICATION_FACTOR" and any(
        text in error.str().lower() for text in _NO_BROKER_YET
    ):
        return BrokerUnreachable(reason)
    for names, leaf in (
        (_EXHAUSTED, ResourcesExhausted),
        (_FENCED, Fenced),
        (_TOO_LARGE, MessageTooLarge),
        (_TRANSACTIONS_REFUSED, TransactionsRefused),
        (_TOPIC_REFUSED, TopicRefused),
        (_REFUSED, DeliveryRefused),
        (_UNREACHABLE, BrokerUnreachable),
    ):
        if error.name() in names:
            return leaf(reason, remedy=_REMEDIES.get(error.name()))
    return BrokerUnreachable(reason) if error.retriable() else BatchAborted(reason)


def undelivered(error: KafkaError, doing: str, right: Right | None = None) -> RelayError:
    """Return the relay's error for a message that was not delivered.

    A deleted topic aborts the batch. The next run checks all topics: it creates the topic again, or
    stops with an error that names it.
    """
    if error.name() in UNKNOWN_TOPICS:
        return BatchAborted(f"{doing}: {error.str()} ({error.name()}).", remedy=RECHECKED)
    return relay_error(error, doing, right)


def error_of(exception: KafkaException) -> KafkaError:
    """Return the KafkaError that a KafkaException carries."""
    error = exception.args[0]
    if not isinstance(error, KafkaError):
        raise exception
    return error


@contextmanager
def kafka_errors(doing: str, right: Right | None = None) -> Iterator[None]:
    """Context manager: translate KafkaException into the relay's error. `doing` begins the sentence
    of the error.

    `right` is the right that the principal lacks if the brokers deny access.
    """
    try:
        yield
    except KafkaException as exc:
        raise relay_error(error_of(exc), doing, right) from exc
