"""Many nodes of ZooKeeper in one go."""

import pytest

from deploy.embedded import ZooKeeper
from relay.errors import StoreUnreachable
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
