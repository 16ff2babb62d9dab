"""Requests the cluster's metadata, which is the cheapest request and detects unavailable
brokers.
"""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Final

from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient, ClusterMetadata

from relay.errors import BrokerUnreachable
from relay.future_of_call import complete_future
from relay.kafka.client_log import write_log_lines
from relay.kafka.errors import error_of, relay_error
from relay.settings import KafkaSettings
from relay.threads import RelayThread

_SILENT: Final = frozenset({"_TIMED_OUT", "_TRANSPORT", "_ALL_BROKERS_DOWN", "_RESOLVE"})
# The client cannot distinguish a broker that requires TLS, or refuses the login, from one that does
# not answer.
_REMEDY: Final = (
    "Check kafka.bootstrap_servers, the brokers, and kafka.client (security.protocol, login); the "
    "relay continues by itself when they answer."
)

_LATE_SECONDS: Final = 2.0
"""Seconds beyond the timeout that the client gets to report the timeout itself."""


def cluster_metadata(
    client: AdminClient | Producer | Consumer,
    settings: KafkaSettings,
    timeout_s: float,
    topic: str | None = None,
) -> ClusterMetadata:
    """Return brokers and topics, or one topic.

    Raises BrokerUnreachable if no broker answers in `timeout_s` seconds.
    """
    doing = "Asking for the brokers" if topic is None else f"Asking for topic {topic}"

    def ask() -> ClusterMetadata:
        return (
            client.list_topics(timeout=timeout_s)
            if topic is None
            else client.list_topics(topic, timeout=timeout_s)
        )

    try:
        return _within(timeout_s, ask, settings)
    except KafkaException as exc:
        write_log_lines(client)  # the client's log lines contain the reason
        if error_of(exc).name() in _SILENT:
            raise BrokerUnreachable(
                f"No Kafka broker answers at {settings.bootstrap_servers}.", remedy=_REMEDY
            ) from exc
        raise relay_error(error_of(exc), doing) from exc


def _within(
    timeout_s: float, ask: Callable[[], ClusterMetadata], settings: KafkaSettings
) -> ClusterMetadata:
    """Return the result of `ask`, with a timeout by the monotonic clock.

    The client library measures its timeout with the wall clock. A clock that is set back makes the
    timeout longer, so the call runs in a separate thread.
    """
    future: Future[ClusterMetadata] = Future()
    RelayThread("metadata", "", complete_future, future, ask).start()
    try:
        return future.result(timeout_s + _LATE_SECONDS)
    except TimeoutError as exc:
        reason = (
            f"Kafka's client did not return {_LATE_SECONDS:g} s after its time limit of "
            f"{timeout_s:g} s at {settings.bootstrap_servers}"
        )
        raise BrokerUnreachable(
            f"{reason}: was this machine's clock set back?", remedy=_REMEDY
        ) from exc
