"""Requests to copy tables that one report asks for, on real servers."""

from collections.abc import Iterator

import pytest

from deploy.embedded import Kafka, ZooKeeper
from relay.errors import SnapshotRefused, VersionConflict
from relay.operations import Snapshots, WantedSnapshot, Who
from relay.operations import snapshots as operations
from relay.settings import RelaySettings
from relay.state import Paths, SnapshotRequest, SnapshotStore
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.relays.zookeeper_sessions import session_with

WHO = Who("ann")


@pytest.fixture
def session(zookeeper: ZooKeeper) -> Iterator[Session]:
    with session_with(zookeeper.hosts) as session:
        yield session


def wanted(table: str, *keys: str) -> WantedSnapshot:
    return WantedSnapshot((table,), keys=tuple((key,) for key in keys))


def test_requests_of_a_report_are_made_together_or_not_at_all(
    zookeeper: ZooKeeper,
    kafka: Kafka,
    session: Session,
    fresh_name: FreshName,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = {"host": "127.0.0.1", "port": 1, "user": "u", "server_id": 7}
    settings = RelaySettings.model_validate(
        {
            "installation": fresh_name("requests"),
            "kafka": {
                "bootstrap_servers": kafka.bootstrap,
                "replication_factor": 1,
                "min_insync_replicas": 1,
            },
            "zookeeper": {"hosts": zookeeper.hosts},
            "instances": [{"name": name, "source": source} for name in ("one", "two")],
        }
    )
    snapshots = Snapshots(settings, session)
    store = SnapshotStore(session, Paths.of(settings.zookeeper, settings.installation))

    def all_requests() -> list[tuple[str, tuple[str, ...]]]:
        return [(name, each.tables) for name in ("one", "two") for each in store.all_of(name)]

    with pytest.raises(SnapshotRefused, match="is not a logical table name"):
        snapshots.start_all(WHO, [wanted("shop.a", "1"), wanted("b", "1")])
    assert all_requests() == []

    # Another operator's request has the number of the second one.
    store.create(SnapshotRequest("taken", "two", ("shop.other",)))
    monkeypatch.setattr(operations, "_numbers", lambda *_: ["free", "taken"])
    with pytest.raises(VersionConflict):
        snapshots.start_all(WHO, [wanted("shop.a", "1"), wanted("shop.b", "1")])
    assert all_requests() == [("two", ("shop.other",))]
    monkeypatch.undo()

    [one, two] = snapshots.start(WHO, wanted("shop.a", "1"))
    assert one.id == two.id
    with pytest.raises(SnapshotRefused, match="already"):
        snapshots.start(WHO, wanted("shop.a", "1"), ["two"])
    started = snapshots.start_all(WHO, [wanted("shop.a", "1"), wanted("shop.b", "1", "2")])
    assert [each.instance for each in started.under_way] == ["one", "two"]
    assert [(each.instance, each.tables, each.version) for each in started.made] == [
        ("one", ("shop.b",), 0),
        ("two", ("shop.b",), 0),
    ]

    # More than one ZooKeeper transaction holds.
    large = [wanted("shop.c", *(f"{part}{'x' * 600}{key}" for key in range(600))) for part in "ab"]
    assert len(snapshots.start_all(WHO, large, ["one"]).made) == 2
    assert len(store.all_of("one")) == 4
