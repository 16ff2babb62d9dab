"""Children of a node are read from ZooKeeper again only after a change."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from deploy.embedded import ZooKeeper
from relay.state.members import cached_children
from relay.state.members.cached_children import CachedChildren
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.relays.zookeeper_sessions import session_with


class Counted:
    """A session that counts the values that it reads."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.reads = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def find_all(self, paths: Sequence[str]) -> list[Any]:
        self.reads += len(paths)
        return self._session.find_all(paths)


@pytest.fixture
def session(zookeeper: ZooKeeper) -> Iterator[Session]:
    with session_with(zookeeper.hosts) as session:
        yield session


@pytest.fixture
def path(fresh_name: FreshName) -> str:
    return f"/{fresh_name('children')}"


def text(_name: str, value: bytes) -> str:
    return value.decode()


def children(session: Session, path: str, *, fixed: bool) -> tuple[Counted, CachedChildren[str]]:
    counted = Counted(session)
    return counted, CachedChildren(counted, path, text, fixed=fixed)  # type: ignore[arg-type]


@pytest.mark.parametrize("fixed", [True, False])
def test_children_are_read_once(session: Session, path: str, fixed: bool) -> None:
    counted, cached = children(session, path, fixed=fixed)
    assert cached.values() == {}, "the node is missing"
    session.create(f"{path}/b%2Fc", b"1")
    session.create(f"{path}/a", b"2")
    found = cached.values()
    assert list(found.items()) == [("a", "2"), ("b/c", "1")]
    assert cached.values() is found
    assert counted.reads == 2
    session.delete(f"{path}/a")
    session.create(f"{path}/d", b"3")
    assert cached.values() == {"b/c": "1", "d": "3"}
    assert counted.reads == 3, "the one that stayed is not read again"


def test_a_child_that_was_replaced_is_read_again(session: Session, path: str) -> None:
    counted, cached = children(session, path, fixed=True)
    session.create(f"{path}/shop", b"r1")
    session.create(f"{path}/crm", b"r1")
    assert cached.values() == {"shop": "r1", "crm": "r1"}
    session.delete(f"{path}/shop")
    session.create(f"{path}/shop", b"r2")
    assert cached.values() == {"shop": "r2", "crm": "r1"}
    assert counted.reads == 3


def test_a_changed_value_is_read_again(session: Session, path: str) -> None:
    counted, cached = children(session, path, fixed=False)
    session.create(f"{path}/r1", b"1")
    session.create(f"{path}/r2", b"2")
    before = cached.values()
    session.put(f"{path}/r2", b"3")
    assert cached.values() == {"r1": "1", "r2": "3"}
    assert before == {"r1": "1", "r2": "2"}, "a value that was returned does not change"
    assert counted.reads == 3


def test_ephemeral_children_go_with_their_session(
    zookeeper: ZooKeeper, session: Session, path: str
) -> None:
    _, cached = children(session, path, fixed=True)
    with session_with(zookeeper.hosts) as other:
        other.create_ephemeral(f"{path}/shop", b"r1")
        assert cached.values() == {"shop": "r1"}
    assert cached.values() == {}


def test_all_is_read_again_after_a_time(
    session: Session, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 100.0
    monkeypatch.setattr(cached_children, "monotonic", lambda: now_s)
    counted, cached = children(session, path, fixed=True)
    session.create(f"{path}/shop", b"r1")
    assert cached.values() == cached.values() == {"shop": "r1"}
    assert counted.reads == 1
    now_s += 31
    assert cached.values() == {"shop": "r1"}
    assert counted.reads == 2
