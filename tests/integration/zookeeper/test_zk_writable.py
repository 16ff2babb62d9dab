"""Whether nodes may be made is asked without making one."""

from collections.abc import Callable, Iterator

import pytest
from kazoo.client import KazooClient
from kazoo.security import make_acl

from deploy.embedded import ZooKeeper
from relay.deadline import Deadline
from relay.errors import StoreRefused
from relay.settings import ZooKeeperSettings
from relay.zk import Session


@pytest.fixture
def session(zookeeper: ZooKeeper) -> Iterator[Session]:
    made = Session(ZooKeeperSettings(hosts=zookeeper.hosts))
    made.start(Deadline.after(60))
    yield made
    made.stop()


@pytest.fixture
def read_only(zookeeper: ZooKeeper, fresh_name: Callable[[str], str]) -> str:
    """A node under which nobody may make another."""
    path = f"/{fresh_name('locked')}"
    client = KazooClient(hosts=zookeeper.hosts)
    client.start(20)
    client.create(path, b"", acl=[make_acl("world", "anyone", read=True)])
    client.stop()
    client.close()
    return path


def test_a_place_that_may_be_made_is_not_made(
    session: Session, fresh_name: Callable[[str], str]
) -> None:
    path = f"/{fresh_name('asked')}/a/b"
    before = session.children("/")
    session.check_writable(path)
    assert session.children("/") == before
    session.ensure(path)
    session.check_writable(path)
    assert session.children(path) == ()


def test_a_refusal_is_the_one_that_the_write_meets(session: Session, read_only: str) -> None:
    with pytest.raises(StoreRefused) as asked:
        session.check_writable(f"{read_only}/a/b")
    with pytest.raises(StoreRefused) as written:
        session.ensure(f"{read_only}/a/b")
    assert str(asked.value) == str(written.value)
