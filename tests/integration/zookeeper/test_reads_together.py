"""Many nodes of ZooKeeper in one go."""

from typing import Any

import pytest

from deploy.embedded import ZooKeeper
from relay.deadline import Deadline
from relay.errors import StoreNotPermitted, StoreUnreachable
from relay.settings import ZooKeeperSettings
from relay.zk import Session
from relay.zk.batched_requests import READS_PER_BATCH
from tests.servers.fixtures import FreshName
from tests.support.relays.zookeeper_sessions import session_with


@pytest.mark.parametrize("synced", [False, True])
def test_nodes_come_in_the_order_of_their_paths_and_missing_ones_are_none(
    zookeeper: ZooKeeper, fresh_name: FreshName, synced: bool
) -> None:
    root = f"/{fresh_name('together')}"
    with session_with(zookeeper.hosts) as session:
        paths = [f"{root}/{number}" for number in range(2 * READS_PER_BATCH + 3)]
        for path in paths[::2]:
            session.put(path, path.encode())
        found = session.find_all(paths, synced=synced)
        values = [None if each is None else each.value.decode() for each in found]
        assert values == [path if not at % 2 else None for at, path in enumerate(paths)]
        assert session.find_all([]) == []


def test_without_a_server_it_is_unreachable(zookeeper: ZooKeeper) -> None:
    with session_with(zookeeper.hosts, answer_seconds=0.5) as session:
        session.stop()
        with pytest.raises(StoreUnreachable):
            session.find_all(["/a", "/b"])


def test_small_nodes_are_read_by_one_request_and_large_ones_by_one_each(
    zookeeper: ZooKeeper, fresh_name: FreshName, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, asked = f"/{fresh_name('together')}", []
    with session_with(zookeeper.hosts) as session:
        values = [b"", b"1", b"x" * 900_000]
        paths = [f"{root}/{number}" for number in range(len(values))]
        for path, value in zip(paths, values, strict=True):
            session.put(path, value)
        kazoo = session._kazoo  # noqa: SLF001
        send = kazoo._call  # noqa: SLF001

        def noted(request: object, answer: Any) -> bool | None:
            asked.append(type(request).__name__)
            return send(request, answer)

        monkeypatch.setattr(kazoo, "_call", noted)
        together, one_by_one = (session.find_all(paths, large=large) for large in (False, True))
        assert [each and each.value for each in together] == values
        assert together == one_by_one, "values, versions and numbers of changes"
        assert asked == ["MultiRead", "GetData", "GetData", "GetData"]


def test_a_node_without_rights_is_an_error(zookeeper: ZooKeeper, fresh_name: FreshName) -> None:
    root = f"/{fresh_name('together')}"
    auth = {"scheme": "digest", "user": "owner", "password": "p"}
    owner = ZooKeeperSettings.model_validate({"hosts": zookeeper.hosts, "auth": auth})
    protected = Session(owner, answer_seconds=60)
    protected.start(Deadline.after(60))
    try:
        protected.put(f"{root}/closed", b"1")
        with session_with(zookeeper.hosts) as session, pytest.raises(StoreNotPermitted):
            session.find_all([f"{root}/open", f"{root}/closed"])
    finally:
        protected.stop()
