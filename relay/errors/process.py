"""Errors of the relay's own process."""

from relay.errors.base import RelayError


class ResourcesExhausted(RelayError):
    """The operating system refuses another thread, or memory for a client."""

    code = "RESOURCES_EXHAUSTED"
    remedy = (
        "Give the relay's process more threads and memory (ulimit -u, pids.max and memory limits "
        "of its container). Until then another relay may run the instance, and this relay tries "
        "again by itself."
    )


class AskedToStop(RelayError):
    """The relay was asked to stop, and a server did not answer in time."""

    code = "ASKED_TO_STOP"
    remedy = "No action is needed: the next start reads the result from Kafka."
