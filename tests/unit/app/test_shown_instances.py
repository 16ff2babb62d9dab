"""Statuses of a relay's instances in ZooKeeper, where it refuses one of them."""

from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from structlog.testing import capture_logs

from relay.app.shown_instances import ShownInstances
from relay.errors import StoreRefused, StoreUnreachable
from relay.pipeline import InstanceState
from relay.state import InstanceStatus

NAMES = ("a", "b", "c", "d", "e", "f", "g")


def _instance(name: str) -> Mock:
    return Mock(
        state=InstanceState.RUNNING,
        status=lambda relay: InstanceStatus(name, "RUNNING", relay=relay),
        stats=Mock(dropped={}, tables=set()),
    )


class Store:
    """Refuses some statuses; notes the others in the order of their writing."""

    def __init__(self, error: Exception, *refused: str) -> None:
        self.error, self.refused = error, refused
        self.written: list[str] = []

    def put_status(self, status: InstanceStatus) -> None:
        if status.name in self.refused:
            raise self.error
        self.written.append(status.name)

    def put_dropped(self, *_: object) -> None:
        pass


def _shown(store: Store) -> tuple[ShownInstances, list[Mock]]:
    session = SimpleNamespace(connected=True, sessions=1, timeout_ms=1000)
    shown = ShownInstances("r", session, store)  # type: ignore[arg-type]
    instances = []
    for name in NAMES:
        instance = _instance(name)
        instance.name = name
        instances.append(instance)
    return shown, instances


def test_a_status_that_zookeeper_refuses_keeps_no_other_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ShownInstances, "_show_metrics", lambda *_: None)
    store = Store(StoreRefused("not permitted"), "a")
    shown, instances = _shown(store)
    with capture_logs() as logs:
        shown.show(instances)
        assert store.written == ["b", "c", "d", "e", "f", "g"]
        shown.show(instances)
        shown.show(instances)
    assert set(store.written[6:]) == {"b", "c", "d", "e", "f", "g"}
    assert {each["instance"] for each in logs} == {"a"}


def test_without_zookeeper_one_write_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ShownInstances, "_show_metrics", lambda *_: None)
    store = Store(StoreUnreachable("away"), *NAMES)
    shown, instances = _shown(store)
    with capture_logs() as logs:
        shown.show(instances)
    assert store.written == []
    assert [each["event"] for each in logs] == ["status_not_written"]
