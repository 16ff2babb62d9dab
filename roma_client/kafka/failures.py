"""Converts errors of Kafka's client into errors of this package."""

from typing import Final

from confluent_kafka import KafkaError, KafkaException

from roma_client.errors import (
    BrokerUnreachable,
    ClientError,
    KafkaRefused,
    NotPermitted,
    RowsExpired,
    TopicMissing,
)

_PERMISSION: Final = frozenset(
    {
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError._AUTHENTICATION,  # noqa: SLF001  # the client's local errors begin like that
    }
)
_MISSING: Final = frozenset(
    {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC}  # noqa: SLF001
)
_AWAY: Final = frozenset(
    {
        KafkaError._TRANSPORT,  # noqa: SLF001
        KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001
        KafkaError._TIMED_OUT,  # noqa: SLF001
        KafkaError._RESOLVE,  # noqa: SLF001
    }
)
_LATE: Final = frozenset(
    {
        KafkaError.UNKNOWN_MEMBER_ID,
        KafkaError.ILLEGAL_GENERATION,
        KafkaError.FENCED_INSTANCE_ID,
        KafkaError._ASSIGNMENT_LOST,  # noqa: SLF001
    }
)
COORDINATOR_CHANGES: Final = frozenset(
    {
        KafkaError.NOT_COORDINATOR,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError._WAIT_COORD,  # noqa: SLF001
    }
)
"""Errors while the group's coordinator starts or moves; the request can be repeated."""
_PASSING: Final = _AWAY | {
    KafkaError._PARTITION_EOF,  # noqa: SLF001
    KafkaError._MAX_POLL_EXCEEDED,  # noqa: SLF001  # the next poll joins the group again
}


def error_of(exc: KafkaException) -> KafkaError:
    """Return the error inside an exception of Kafka's client."""
    error: KafkaError = exc.args[0]
    return error


def is_late(error: KafkaError) -> bool:
    """Return whether an error means that the broker does not accept this member or its generation.

    Another client may then have its partitions. REBALANCE_IN_PROGRESS is not such an error: a
    member that joins again keeps partitions, and its next commit is accepted.
    """
    return error.code() in _LATE


def is_passing(error: KafkaError) -> bool:
    """Return whether Kafka's client recovers from the error without an action of this package."""
    return not error.fatal() and (error.retriable() or error.code() in _PASSING)


def is_for_now(error: KafkaError) -> bool:
    """Return whether the same request can succeed later, because brokers are unavailable or a
    group's coordinator moves.
    """
    return error.code() in COORDINATOR_CHANGES | _AWAY


def client_error(error: KafkaError, where: str) -> ClientError:
    """Return this package's error for an error of Kafka's client. `where` says what was done, and
    is the last part of the reason.
    """
    code, text = error.code(), f"{error.str()} ({error.name()}), {where}."
    if code in _PERMISSION:
        return NotPermitted(text)
    if code in _MISSING:
        return TopicMissing(text)
    if code in _AWAY:
        return BrokerUnreachable(text)
    if code in {KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE}:  # noqa: SLF001
        return RowsExpired(text)
    return KafkaRefused(text)
