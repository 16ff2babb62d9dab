"""When a quiet instance publishes a heartbeat: never beside other messages, and never inside a
source transaction.
"""

from types import SimpleNamespace
from typing import Any

import pytest

from relay.model.message import OutboundMessage
from relay.pipeline.publishing import heartbeats as module
from relay.pipeline.publishing.heartbeats import Heartbeats
from relay.settings import InstanceSettings


class Checkpoint:
    """An open batch, as far as heartbeats ask it."""

    def __init__(self) -> None:
        record = SimpleNamespace(positions={}, order=SimpleNamespace(), change_time_ms=0)
        self.progress = SimpleNamespace(record=record, between_transactions=True)
        self.publish_time_ms = 0
        self.is_empty = True
        self.added: list[OutboundMessage] = []

    def read_clock(self) -> None:
        self.publish_time_ms += 1

    def add_own(self, message: OutboundMessage) -> None:
        self.added.append(message)


class Quiet:
    """An instance with heartbeats every ten seconds, and its clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **heartbeat: Any) -> None:
        self.now_s = 0.0
        monkeypatch.setattr(module, "monotonic", lambda: self.now_s)
        monkeypatch.setattr(module, "encode_heartbeat", lambda *_: b"{}")
        settings = InstanceSettings.model_validate(
            {
                "name": "shop",
                "source": {"host": "h", "user": "u"},
                "heartbeat": {"topic": "beats", "interval_seconds": 10, **heartbeat},
            }
        )
        self.checkpoint = Checkpoint()
        self.totals = SimpleNamespace(published_messages=0)
        stats: Any = SimpleNamespace(totals=self.totals)
        checkpoint: Any = self.checkpoint
        self._heartbeats = Heartbeats(settings, checkpoint, stats)

    def after(self, seconds: float) -> int:
        """Return the number of heartbeats so many seconds later."""
        self.now_s += seconds
        self._heartbeats.beat()
        return len(self.checkpoint.added)


def test_a_quiet_instance_beats_once_in_its_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = Quiet(monkeypatch)
    assert (quiet.after(9), quiet.after(1)) == (0, 1)
    (beat,) = quiet.checkpoint.added
    assert (beat.topic, beat.partition, beat.value) == ("beats", 0, b"{}")
    quiet.totals.published_messages += 1  # the heartbeat itself
    assert (quiet.after(9), quiet.after(0.5), quiet.after(10)) == (1, 1, 2)


def test_markers_of_moved_tables_and_unanswered_commits_come_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are in the open batch: its record is that of the newer mapping set."""
    quiet = Quiet(monkeypatch)
    quiet.checkpoint.is_empty = False
    assert quiet.after(30) == 0
    quiet.checkpoint.is_empty = True
    assert (quiet.after(9), quiet.after(1)) == (0, 1)


def test_no_heartbeat_is_in_a_half_published_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would name a position whose transaction is not whole."""
    quiet = Quiet(monkeypatch)
    quiet.checkpoint.progress.between_transactions = False
    assert quiet.after(60) == 0
    quiet.checkpoint.progress.between_transactions = True
    assert quiet.after(0) == 1


def test_an_instance_without_a_topic_never_beats(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Quiet(monkeypatch, topic=None).after(60) == 0
