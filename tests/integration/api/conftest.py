"""Admins of these tests that have no Kafka save their first mapping nevertheless."""

from collections.abc import Iterator

import pytest

from api.composition import shared
from relay.operations import highest_recorded_set
from relay.settings import RelaySettings

NO_KAFKA = "127.0.0.1:1"
"""The brokers of `admin_settings`, where nothing listens."""


def recorded(settings: RelaySettings) -> int:
    return 0 if settings.kafka.bootstrap_servers == NO_KAFKA else highest_recorded_set(settings)


@pytest.fixture(scope="session", autouse=True)
def _first_saves_without_kafka() -> Iterator[None]:
    """The position records of an installation without Kafka name no mapping set."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared, "highest_recorded_set", recorded)
        yield
