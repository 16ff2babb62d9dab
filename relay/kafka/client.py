"""The only module that turns KafkaSettings into librdkafka's configuration."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from confluent_kafka import KafkaException

from relay.errors import ConfigurationError
from relay.kafka.client_log import CLIENT_LOG
from relay.kafka.errors import error_of, relay_error
from relay.settings import KafkaSettings, plain_options

_RECONNECT_MS: Final = 1000
"""Longest pause between two connection attempts, in milliseconds. By default the client doubles its
pause up to 10 s, so it would notice a recovered broker that much later.
"""

_FETCHED_BYTES: Final = 1 << 17
"""Bytes per request and partition of a reader (`fetch.message.max.bytes`).

Brokers send batches as they were compressed, so a reader may need several times this memory. A
larger batch is still delivered, alone (KIP-74).
"""
_INVALID: Final = frozenset({"_INVALID_ARG", "_NOT_IMPLEMENTED"})

Client = TypeVar("Client")
ClientConfiguration: TypeAlias = dict[str, str | int | float | bool]


def client_configuration(settings: KafkaSettings) -> ClientConfiguration:
    """Return the settings that all clients of this relay share: brokers and login.

    Clients do not let brokers create a missing topic. Brokers would create it with their own
    settings, which may delete rows, and the relay would not notice that a topic was deleted.
    """
    configuration: ClientConfiguration = {
        "bootstrap.servers": settings.bootstrap_servers,
        "log_level": 3,
        "allow.auto.create.topics": False,
        "socket.keepalive.enable": True,
        "reconnect.backoff.max.ms": _RECONNECT_MS,
        **plain_options(settings.client),
    }
    if settings.password is not None:
        configuration["sasl.password"] = settings.password.get_secret_value()
    return configuration


def reader_configuration(settings: KafkaSettings) -> ClientConfiguration:
    """Return the settings that all consumers of this relay share: no commits of offsets, and
    bounded fetches.
    """
    return {
        **client_configuration(settings),
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "fetch.message.max.bytes": _FETCHED_BYTES,
    }


def kafka_client(make: Callable[..., Client], configuration: Mapping[str, Any]) -> Client:
    """Create a client of the library, whose log lines are written to the relay's log.

    Raises ConfigurationError for a setting that the library refuses, and ResourcesExhausted.
    """
    try:
        return make(dict(configuration), logger=CLIENT_LOG)
    except KafkaException as exc:
        error = error_of(exc)
        if error.name() in _INVALID:
            raise ConfigurationError(
                f"[kafka.client]: the Kafka client refuses a setting: {error.str()}."
            ) from exc
        raise relay_error(error, "Making a Kafka client") from exc
