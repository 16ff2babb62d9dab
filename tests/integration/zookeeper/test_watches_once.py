"""Watches of children that are armed once: many changes cost one list of names."""

from collections.abc import Callable
from threading import Event

from deploy.embedded import ZooKeeper
from tests.servers.fixtures import FreshName
from tests.support.relays.zookeeper_sessions import session_with


def test_a_watch_that_is_armed_once_is_silent_until_it_is_renewed(
    zookeeper: ZooKeeper, fresh_name: FreshName
) -> None:
    signals, changed, always = list[str](), Event(), Event()
    path = f"/{fresh_name('once')}"

    def note() -> None:
        signals.append("changed")
        changed.set()

    with session_with(zookeeper.hosts) as session, session_with(zookeeper.hosts) as other:
        watch = session.watch_children(path, note, once=True)
        session.watch_children(path, always.set)
        for round_ in range(3):
            watch.renew()
            session.exists(path)
            changed.clear()
            for name in "abc":
                always.clear()
                other.create(f"{path}/{round_}{name}", b"")
                assert always.wait(60), "the watch beside it is signalled each time"
                session.exists(path)
            assert changed.wait(60)
            assert len(signals) == round_ + 1


def test_a_watch_that_is_armed_once_signals_after_a_reconnect(
    new_zookeeper: Callable[..., ZooKeeper],
) -> None:
    server, changed = new_zookeeper(tick_ms=500), Event()
    with session_with(server.hosts) as session:
        watch = session.watch_children("/once", changed.set, once=True)
        session.create("/once/a", b"")
        assert changed.wait(60)
        changed.clear()
        server.restart()
        assert changed.wait(60), "what changed meanwhile is unknown"
        watch.renew()
        session.exists("/once")
        changed.clear()
        session.create("/once/b", b"")
        assert changed.wait(60)
