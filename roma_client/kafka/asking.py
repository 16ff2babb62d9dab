"""Repeats requests to Kafka while no broker answers."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from roma_client.kafka.failures import error_of, is_for_now

R = TypeVar("R")

_PATIENCE_SECONDS: Final = 60.0
_PAUSE_SECONDS: Final = 0.3
_MEMBERS_SECONDS: Final = 120.0
"""librdkafka ends the process where the limit of a question to a group's coordinator passes while
it looks for the coordinator (its issue 4605), so the limit is longer than brokers need to restart.
"""


def answered(question: Callable[[], R], patience_seconds: float = _PATIENCE_SECONDS) -> R:
    """Return the result of `question`; repeat it while brokers are unavailable or change their
    roles.

    Raises KafkaException for other errors, and the last error after `patience_seconds`.
    """
    deadline = time.monotonic() + patience_seconds
    while True:
        try:
            return question()
        except KafkaException as exc:
            if not is_for_now(error_of(exc)) or time.monotonic() > deadline:
                raise
        time.sleep(_PAUSE_SECONDS)


def oldest_member(kafka: Mapping[str, Any], group: str) -> str | None:
    """Return the id of the group's member whose client started first; None without members.

    The id of an exclusive client's member begins with the time at which the client started (see
    `consumer_config`). Call this only if the group's coordinator has just answered another request.
    Raises KafkaException.
    """
    admin = AdminClient(dict(kafka))  # must live until the answer
    asked = admin.describe_consumer_groups([group], request_timeout=_MEMBERS_SECONDS)
    return min((each.member_id for each in asked[group].result().members), default=None)
