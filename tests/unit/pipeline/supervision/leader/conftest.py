"""The world of a leader's session."""

import pytest

from tests.unit.pipeline.supervision.leader.run_world import World


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """Return Kafka and ZooKeeper in memory, with a position record."""
    return World(monkeypatch)
