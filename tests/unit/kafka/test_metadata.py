"""Questions to the cluster end in time, whatever the client library does."""

from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from relay.errors import BrokerUnreachable
from relay.kafka import metadata
from relay.settings import KafkaSettings

SETTINGS = KafkaSettings(bootstrap_servers="kafka1:9092")


def test_a_client_that_outlasts_its_time_limit_is_left_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its waits end at a moment of the wall clock, which may have been set back by hours
    meanwhile.
    """
    monkeypatch.setattr(metadata, "_LATE_SECONDS", 0.1)
    never, asked = Event(), list[str]()

    def list_topics(topic: str, timeout: float) -> None:
        asked.append(topic)
        never.wait()

    client: Any = SimpleNamespace(list_topics=list_topics)
    try:
        with pytest.raises(BrokerUnreachable, match="clock set back"):
            metadata.cluster_metadata(client, SETTINGS, 0.1, "orders")
    finally:
        never.set()
    assert asked == ["orders"]


def test_the_answer_is_the_clients() -> None:
    answers: dict[float, Any] = {5.0: object()}
    client: Any = SimpleNamespace(list_topics=lambda timeout: answers[timeout])
    assert metadata.cluster_metadata(client, SETTINGS, 5.0) is answers[5.0]
