"""A feed without a broker."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.clients.fake_consumer import FakeClock, FakeConsumer


@pytest.fixture
def consumer(monkeypatch: pytest.MonkeyPatch) -> FakeConsumer:
    """The consumer of the feed that the test opens."""
    fake = FakeConsumer()

    def made(config: Mapping[str, Any], **_: Any) -> FakeConsumer:
        fake.config.update(config)
        return fake

    monkeypatch.setattr("roma_client.kafka.feed.Consumer", made)
    return fake


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """The clock of the feed that the test opens."""
    fake = FakeClock()
    for module in ("commits", "feed", "membership", "messages"):
        monkeypatch.setattr(f"roma_client.kafka.{module}.time", fake)
    return fake
