"""The session against a real server: values, guards, transactions, outages, lost sessions,
watches.
"""

import gc
import weakref
from collections.abc import Callable, Iterator
from shutil import rmtree
from threading import Event
from time import monotonic

import pytest

from deploy.embedded import ZooKeeper
from relay.deadline import Deadline
from relay.errors import NodeMissing, StoreRefused, StoreUnreachable, VersionConflict
from relay.settings import ZooKeeperSettings
from relay.zk import Check, Create, Delete, Replace, Session, SessionState
from tests.servers.fixtures import FreshName
from tests.support.faults.tcp_gate import TcpGate
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until


@pytest.fixture
def session(zookeeper: ZooKeeper) -> Iterator[Session]:
    with session_with(zookeeper.hosts) as session:
        yield session


@pytest.fixture
def path(fresh_name: FreshName) -> str:
    return f"/{fresh_name('zk')}"


def test_values_carry_versions_that_guard_them(session: Session, path: str) -> None:
    session.create(f"{path}/deep/node", b"one")
    node = session.get(f"{path}/deep/node", synced=True)
    assert (node.value, node.version, node.ephemeral_owner) == (b"one", 0, None)
    assert session.compare_and_set(f"{path}/deep/node", b"two", 0) == 1
    with pytest.raises(VersionConflict):
        session.compare_and_set(f"{path}/deep/node", b"three", 0)
    with pytest.raises(VersionConflict):
        session.create(f"{path}/deep/node", b"again")
    with pytest.raises(VersionConflict):
        session.delete(f"{path}/deep/node", 0)
    assert session.get(f"{path}/deep/node").value == b"two"


def test_a_missing_node_is_told_apart(session: Session, path: str) -> None:
    assert session.find(path) is None
    assert not session.exists(path, synced=True)
    for request in (
        lambda: session.get(path),
        lambda: session.delete(path),
        lambda: session.children(path),
    ):
        with pytest.raises(NodeMissing, match=path):
            request()
    with pytest.raises(NodeMissing):
        session.compare_and_set(path, b"", 0)


def test_put_writes_whether_the_node_is_there_or_not(session: Session, path: str) -> None:
    session.put(f"{path}/a", b"1")
    session.put(f"{path}/a", b"2")
    session.ensure(f"{path}/b/c")
    session.ensure(f"{path}/b/c")
    assert session.get(f"{path}/a").value == b"2"
    assert session.children(path) == ("a", "b")


def test_a_node_with_children_is_not_deleted(session: Session, path: str) -> None:
    session.ensure(f"{path}/child")
    with pytest.raises(StoreRefused, match=path):
        session.delete(path)


def test_a_transaction_happens_whole_or_not_at_all(session: Session, path: str) -> None:
    session.put(f"{path}/a", b"1")
    session.put(f"{path}/gone", b"1")
    with pytest.raises(VersionConflict, match=f"{path}/a"):
        session.commit(
            [Create(f"{path}/b", b""), Delete(f"{path}/gone", 0), Replace(f"{path}/a", b"2", 7)]
        )
    with pytest.raises(NodeMissing, match=f"{path}/none"):
        session.commit([Create(f"{path}/b", b""), Check(f"{path}/none", 0)])
    assert session.children(path) == ("a", "gone")
    session.commit(
        [Create(f"{path}/b", b"new"), Delete(f"{path}/gone", 0), Replace(f"{path}/a", b"2", 0)]
    )
    assert session.children(path) == ("a", "b")
    assert session.get(f"{path}/a").value == b"2"


def test_ephemeral_nodes_belong_to_their_session_and_end_with_it(
    zookeeper: ZooKeeper, session: Session, path: str
) -> None:
    with session_with(zookeeper.hosts) as other:
        other.create_ephemeral(f"{path}/leader", b"other")
        assert other.owns(f"{path}/leader")
        assert not session.owns(f"{path}/leader")
        assert session.get(f"{path}/leader").ephemeral_owner == other.id
        with pytest.raises(VersionConflict):
            session.create_ephemeral(f"{path}/leader", b"mine")
    assert not session.owns(f"{path}/leader")
    session.create_ephemeral(f"{path}/leader", b"mine")
    assert session.owns(f"{path}/leader")


def test_sequential_nodes_stand_in_the_order_of_their_making(session: Session, path: str) -> None:
    made = [session.create_ephemeral_sequential(f"{path}/n-", b"") for _ in range(12)]
    assert made == sorted(made)
    assert session.children(path) == tuple(name.removeprefix(f"{path}/") for name in made)


def test_a_watch_signals_every_kind_of_change(
    zookeeper: ZooKeeper, session: Session, path: str
) -> None:
    changed = Event()
    session.watch(path, changed.set)

    def changes_after(change: Callable[[], object]) -> None:
        changed.clear()
        session.find(
            path
        )  # as every user of a watch does: what happens after this read is signalled
        change()
        assert changed.wait(60)

    with session_with(zookeeper.hosts) as other:
        changes_after(lambda: other.create(path, b"1"))
        changes_after(lambda: other.put(path, b"2"))
        changes_after(lambda: other.put(path, b"3"))
        changes_after(lambda: other.delete(path))
        changes_after(lambda: other.create(path, b"4"))


def test_a_watch_on_children_waits_for_a_parent_that_is_not_there_yet(
    zookeeper: ZooKeeper, session: Session, path: str
) -> None:
    changed = Event()
    session.watch_children(path, changed.set)
    with session_with(zookeeper.hosts) as other:
        for name in ("a", "b", "c"):
            changed.clear()
            session.exists(path)
            other.create(f"{path}/{name}", b"")
            wait_until(
                lambda name=name: changed.is_set() and name in session.children(path),  # type: ignore[misc]  # binds the loop's name
                f"a signal for {name}",
            )


def test_a_cancelled_watch_is_silent(session: Session, path: str) -> None:
    cancelled, standing = Event(), Event()
    session.watch(path, cancelled.set).cancel()
    session.watch(path, standing.set)
    session.find(path)
    session.create(path, b"")
    assert standing.wait(60)
    assert not cancelled.is_set()


def test_nothing_is_left_of_a_cancelled_watch(session: Session, path: str) -> None:
    standing = Event()
    session.watch(path, standing.set)
    watch = session.watch(path, Event().set)
    session.find(path)
    watch.cancel()
    left = weakref.ref(watch)
    del watch
    gc.collect()
    assert left() is None, "a standby that watches every second for weeks must not grow"
    session.create(path, b"")
    assert standing.wait(60), "the others still listen"


@pytest.mark.parametrize("hosts", ["127.0.0.1:1", "no-such-host.invalid:2181"])
def test_nobody_there_is_unreachable_within_the_time(hosts: str) -> None:
    session = Session(ZooKeeperSettings(hosts=hosts), answer_seconds=0.3)
    began = monotonic()
    try:
        with pytest.raises(StoreUnreachable, match=hosts):
            session.start(Deadline.after(0.5))
        with pytest.raises(StoreUnreachable):
            session.get("/a")
        assert monotonic() - began < 30
        assert (session.state, session.sessions, session.id) == (SessionState.LOST, 0, None)
    finally:
        session.stop()


def test_a_server_that_comes_late_is_found(new_zookeeper: Callable[..., ZooKeeper]) -> None:
    server = new_zookeeper(tick_ms=500)
    server.stop()
    session = Session(ZooKeeperSettings(hosts=server.hosts), answer_seconds=20)
    try:
        for _ in range(3):
            with pytest.raises(StoreUnreachable):
                session.start(Deadline.after(0.2))
        server.start()
        session.start(Deadline.after(60))
        session.create("/late", b"found")
        assert session.sessions == 1
    finally:
        session.stop()


def test_a_short_outage_suspends_and_keeps_the_session_and_its_watches(
    new_zookeeper: Callable[..., ZooKeeper],
) -> None:
    server = new_zookeeper(tick_ms=1000)
    with session_with(server.hosts, timeout_seconds=18, answer_seconds=1) as session:
        session.create_ephemeral("/mine", b"")
        changed = Event()
        session.watch("/watched", changed.set)
        first = session.id
        server.stop()
        wait_until(lambda: session.state is SessionState.SUSPENDED, "the outage to be noticed")
        wait_until(lambda: session.silent_s > 0.1, "the silence to be counted")
        with pytest.raises(StoreUnreachable):
            session.put("/watched", b"")
        server.start()
        wait_until(lambda: session.connected, "the reconnect")
        assert changed.wait(60), "a reconnect signals, since changes may have gone unseen"
        assert (session.id, session.sessions, session.silent_s) == (first, 1, 0.0)
        assert session.owns("/mine")
        with session_with(server.hosts) as other:
            changed.clear()
            session.find("/watched")
            other.put("/watched", b"1")
            assert changed.wait(60)


def test_a_session_that_ended_while_cut_off_is_lost_and_the_next_one_counted(
    new_zookeeper: Callable[..., ZooKeeper],
) -> None:
    server = new_zookeeper(tick_ms=200)
    with (
        TcpGate("127.0.0.1", server.port) as gate,
        session_with(server.hosts) as other,
        session_with(gate.address, timeout_seconds=1, answer_seconds=10) as session,
    ):
        session.create_ephemeral("/mine", b"")
        changed = Event()
        session.watch("/watched", changed.set)
        first = session.id
        gate.shut()
        wait_until(lambda: not other.exists("/mine", synced=True), "the server to end the session")
        assert session.state is SessionState.SUSPENDED, (
            "a client that is cut off cannot know that its session has ended"
        )
        other.put("/watched", b"unseen")
        gate.reopen()
        wait_until(lambda: session.sessions == 2, "a new session")
        assert session.id != first
        assert not session.owns("/mine")
        assert changed.wait(60), "what changed meanwhile is signalled"
        changed.clear()
        session.find("/watched")
        other.put("/watched", b"1")
        assert changed.wait(60), "a watch holds across sessions"


def test_an_idle_session_finds_a_server_that_lost_its_data(
    new_zookeeper: Callable[..., ZooKeeper],
) -> None:
    """Nobody asks for anything meanwhile, as in an admin.

    The server refuses clients that have seen more changes than it has.
    """
    server = new_zookeeper(tick_ms=500)
    with session_with(server.hosts, timeout_seconds=2) as idle:
        for number in range(5):
            idle.put("/before/node", b"%d" % number)
        server.kill()
        rmtree(server.folder / "data")
        wait_until(lambda: idle.silent_s > 2.5, "the session to be over")
        server.start()
        began = monotonic()
        wait_until(lambda: idle.connected, "the session to be made again")
        assert monotonic() - began < 20
        assert idle.find("/before/node") is None
