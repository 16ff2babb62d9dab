"""Passes a changed Kafka password to a running producer. The client alone would log in again with
the old one.
"""

import threading
import weakref
from typing import TYPE_CHECKING, Final

import structlog

from relay.settings import KafkaSettings, VariableSecret, plain_options
from relay.threads import RelayThread

if TYPE_CHECKING:
    from relay.publish.client_queue import ClientQueue

_POLL_SECONDS: Final = 1.0
_USER: Final = "sasl.username"

_log = structlog.stdlib.get_logger(__name__)


def keep_password_fresh(queue: "ClientQueue", kafka: KafkaSettings, used: object) -> None:
    """Give the queue's client each new value of the password, on a thread that ends with the queue.

    `used`: the value that the client has.
    """
    user = plain_options(kafka.client).get(_USER)
    if isinstance(kafka.password, VariableSecret) and isinstance(user, str):
        RelayThread(
            "kafka-password", "", _watch, weakref.ref(queue), user, kafka.password, used
        ).start()


def _watch(
    found: "weakref.ref[ClientQueue]", user: str, password: VariableSecret, used: object
) -> None:
    rest = threading.Event()  # no code sets this event; it is a timer
    while not rest.wait(_POLL_SECONDS):
        present = password.get_secret_value()
        if not _refreshed(found, user, present, used):
            return
        used = present


def _refreshed(found: "weakref.ref[ClientQueue]", user: str, password: str, used: object) -> bool:
    """Pass a changed password to the queue's client; return whether the queue still exists.

    The thread holds no reference to the queue between two checks, so that the queue can be freed.
    """
    queue = found()
    if queue is None or queue.closed:
        return False
    if password != used:
        queue.producer.set_sasl_credentials(user, password)
        _log.info("kafka_password_changed", user=user)
    return True
