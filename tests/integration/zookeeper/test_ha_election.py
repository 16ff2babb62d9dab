"""One leader among relays, on a real ZooKeeper."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from deploy.embedded import ZooKeeper
from relay.errors import StoreUnreachable
from relay.ha import Assignment, AssignmentTable, Election, Why
from relay.zk import Session
from tests.servers.fixtures import SHORTEST_SESSION_MS
from tests.support.faults.tcp_gate import TcpGate
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until

STOP = threading.Event()


@pytest.fixture
def path(fresh_name: Callable[[str], str]) -> str:
    return f"/{fresh_name('leader')}"


@pytest.fixture
def sessions(zookeeper: ZooKeeper) -> Iterator[tuple[Session, Session]]:
    with session_with(zookeeper.hosts) as first, session_with(zookeeper.hosts) as second:
        yield first, second


def test_the_other_one_leads_when_the_leader_resigns(
    sessions: tuple[Session, Session], path: str
) -> None:
    one, two = Election(sessions[0], path, "one"), Election(sessions[1], path, "two")
    assert one.wait_until_leading(STOP, 10)
    assert one.leads()
    assert not two.wait_until_leading(STOP, 0.2)
    assert two.leader() == "one"
    two.resign()
    assert one.leads_synced(), "who does not lead cannot take the leader's place away"
    one.resign()
    assert two.wait_until_leading(STOP, 10)
    assert not one.leads_synced()


def test_a_node_of_an_unanswered_try_is_taken_over(
    sessions: tuple[Session, Session], path: str
) -> None:
    assert Election(sessions[0], path, "me").wait_until_leading(STOP, 10)
    again = Election(sessions[0], path, "me")
    assert not again.leads()
    assert again.wait_until_leading(STOP, 10)


def test_only_the_wanted_relay_takes_a_free_instance(
    sessions: tuple[Session, Session], path: str
) -> None:
    assignments = {name: AssignmentTable(name, rebalance_seconds=0) for name in ("one", "two")}
    one, two = (
        Election(session, path, name, "shop", assignments[name])
        for session, name in zip(sessions, assignments, strict=True)
    )

    def plan(assignment: Assignment) -> None:
        for each in assignments.values():
            each.renew({"shop": assignment})

    assert not one.wait_until_leading(STOP, 0), "nobody takes anything without a plan"
    plan(Assignment(None, "two", Why.FREE))
    assert not one.wait_until_leading(STOP, 0)
    assert two.wait_until_leading(STOP, 0)
    plan(Assignment("two", "two", Why.STAYS))
    assert two.gives_way() is None
    plan(Assignment("two", "one", Why.MOVED))
    assert two.gives_way() == Assignment("two", "one", Why.MOVED)
    assert not one.wait_until_leading(STOP, 0), "not while the other one leads"
    two.resign()
    assert one.wait_until_leading(STOP, 10)


def test_a_cut_off_leader_goes_on_and_is_not_certain(zookeeper: ZooKeeper, path: str) -> None:
    with ExitStack() as stack:
        gate = stack.enter_context(TcpGate("127.0.0.1", zookeeper.port))
        session = stack.enter_context(session_with(gate.address, 4, answer_seconds=0.5))
        election = Election(session, path, "me", "shop", assignments := AssignmentTable("me", 0))
        assignments.renew({"shop": Assignment(None, "me", Why.FREE)})
        assert election.wait_until_leading(STOP, 10)
        assert election.leads(for_certain=True)
        gate.shut()
        wait_until(lambda: not session.connected, "the cut")
        assert election.leads()
        assert not election.leads(for_certain=True)
        assignments.renew({})
        with pytest.raises(StoreUnreachable):
            election.wait_until_leading(STOP, 0)
        gate.reopen()
        wait_until(lambda: session.connected, "the connection")
        assert election.leads_synced()


def test_the_granted_timeout_is_known(zookeeper: ZooKeeper) -> None:
    with session_with(zookeeper.hosts, timeout_seconds=0.1) as session:
        assert session.timeout_ms == SHORTEST_SESSION_MS
