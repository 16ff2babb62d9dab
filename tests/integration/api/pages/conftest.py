"""ZooKeeper as pages' tests write it; each module names its `installation`."""

from collections.abc import Iterator

import pytest

from deploy.embedded import ZooKeeper
from relay.state import Paths
from relay.zk import Session
from tests.support.relays.zookeeper_sessions import session_with


@pytest.fixture(scope="module")
def session(zookeeper: ZooKeeper) -> Iterator[Session]:
    with session_with(zookeeper.hosts) as session:
        yield session


@pytest.fixture(scope="module")
def paths(installation: str) -> Paths:
    return Paths(f"/roma/{installation}")
