"""One place that turns KafkaSettings into librdkafka's configuration."""

from typing import Final, TypeAlias

from relay.settings import KafkaSettings

_RECONNECT_MS: Final = 1000
"""The client doubles its pause between two attempts, by itself up to 10 s: a broker that is back would be met that much later."""

ClientConfiguration: TypeAlias = dict[str, str | int | float | bool]


def client_configuration(settings: KafkaSettings) -> ClientConfiguration:
    """What every client of this relay shares: where, and how to log in."""
    configuration: ClientConfiguration = {
        "bootstrap.servers": settings.bootstrap_servers,
        "log_level": 3,
        "socket.keepalive.enable": True,
        "reconnect.backoff.max.ms": _RECONNECT_MS,
        **settings.client,
    }
    if settings.password is not None:
        configuration["sasl.password"] = settings.password.get_secret_value()
    return configuration
