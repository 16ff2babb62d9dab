"""Statuses, notes and members on a real ZooKeeper."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from deploy.embedded import ZooKeeper
from relay.errors import NodeMissing
from relay.state import (
    DroppedName,
    InstanceStatus,
    InstanceStore,
    Membership,
    Paths,
    RelayMember,
    StartNote,
)
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.relays.zookeeper_sessions import session_with


@pytest.fixture
def session(zookeeper: ZooKeeper) -> Iterator[Session]:
    with session_with(zookeeper.hosts) as session:
        yield session


@pytest.fixture
def paths(fresh_name: FreshName) -> Paths:
    return Paths(f"/{fresh_name('state')}")


@pytest.fixture
def instances(session: Session, paths: Paths) -> InstanceStore:
    return InstanceStore(session, paths)


def test_the_last_status_of_every_instance_is_kept(instances: InstanceStore) -> None:
    assert instances.statuses() == ()
    with pytest.raises(NodeMissing, match="instance named shop"):
        instances.status("shop")
    instances.put_status(InstanceStatus("shop", "STARTING"))
    running = InstanceStatus(
        "shop",
        "RUNNING",
        relay="r1",
        epoch=3,
        mapping_set=7,
        execute_position=2**62,
        lag_seconds=0.2,
    )
    stopped = InstanceStatus("crm", "STOPPED", "BINLOG_PURGED", "It is gone.", "Start again.")
    instances.put_status(running)
    instances.put_status(stopped)
    assert instances.status("shop") == running
    assert instances.statuses() == (stopped, running)


def test_a_status_is_decoded_again_after_a_change_alone(instances: InstanceStore) -> None:
    for name in ("crm", "shop"):
        instances.put_status(InstanceStatus(name, "STARTING"))
    before = instances.statuses()
    instances.put_status(InstanceStatus("shop", "RUNNING"))
    after = instances.statuses()
    assert [each.state for each in after] == ["STARTING", "RUNNING"]
    assert after[0] is before[0]
    assert [each.state for each in before] == ["STARTING", "STARTING"]


def test_an_instance_that_only_has_notes_has_no_status(instances: InstanceStore) -> None:
    instances.put_dropped("shop", [DroppedName("a.b", "left out.", 3)])
    assert instances.statuses() == ()
    (dropped,) = instances.dropped("shop")
    assert dropped.first_ms > 0
    assert replace(dropped, first_ms=0) == DroppedName("a.b", "left out.", 3)
    assert instances.dropped("crm") == ()


def test_the_tables_that_instances_have_met_are_gathered(instances: InstanceStore) -> None:
    assert instances.tables() == ()
    instances.put_tables("shop", ["b.t", "a.t"])
    instances.put_tables("crm", ["c.t", "a.t"])
    assert instances.tables() == ("a.t", "b.t", "c.t")


def test_the_first_start_note_stays(instances: InstanceStore) -> None:
    assert instances.started("shop") is None
    first = StartNote("bin.000001", 4, "0-1-5", "r1", 1)
    assert instances.note_start("shop", first) == first
    assert instances.note_start("shop", StartNote("bin.000009", 4)) == first
    assert instances.started("shop") == first


def test_a_member_is_there_while_its_session_lives(
    zookeeper: ZooKeeper, session: Session, paths: Paths
) -> None:
    watching = Membership(session, paths)
    assert watching.members() == ()
    member = RelayMember("r1", "host", 7, "http://127.0.0.1:1", ("shop",), 5)
    with session_with(zookeeper.hosts) as own:
        Membership(own, paths).announce(member)
        Membership(own, paths).announce(member)
        assert watching.members() == (member,)
        changed = RelayMember("r1", "host", 7, "http://127.0.0.1:1", ("shop", "crm"), 5)
        Membership(own, paths).announce(changed)
        assert watching.members() == (changed,)
    assert watching.members() == ()


def test_a_restarted_relay_takes_its_name_from_the_session_that_died(
    zookeeper: ZooKeeper, session: Session, paths: Paths
) -> None:
    with session_with(zookeeper.hosts) as dead:
        Membership(dead, paths).announce(RelayMember("r1", pid=1))
        Membership(session, paths).announce(RelayMember("r1", pid=2))
    assert [member.pid for member in Membership(session, paths).members()] == [2], (
        "the old session's end leaves the new node alone"
    )
