"""One place that turns KafkaSettings into librdkafka's configuration."""

from typing import TypeAlias

from relay.settings import KafkaSettings

ClientConfiguration: TypeAlias = dict[str, str | int | float | bool]


def client_configuration(settings: KafkaSettings) -> ClientConfiguration:
    """What every client of this relay shares: where, and how to log in."""
    configuration: ClientConfiguration = {
        "bootstrap.servers": settings.bootstrap_servers,
        "log_level": 3,
        "socket.keepalive.enable": True,
        **settings.client,
    }
    if settings.password is not None:
        configuration["sasl.password"] = settings.password.get_secret_value()
    return configuration
