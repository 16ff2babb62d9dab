"""A relay that handed an instance over leaves it to the relay that should have it."""

import threading

from relay.ha import Assignment, AssignmentTable, Election, Why
from tests.unit.ha.memory_zookeeper import MemorySession, MemoryZooKeeper

ME, OTHER = "me", "other"
STOP = threading.Event()


def elections(table: AssignmentTable) -> tuple[Election, Election]:
    """This relay's election, and that of another one that takes whatever is free."""
    server = MemoryZooKeeper()
    return (
        Election(MemorySession(server), "/leader", ME, "shop", table),  # type: ignore[arg-type]
        Election(MemorySession(server), "/leader", OTHER, "shop"),  # type: ignore[arg-type]
    )


def leads(election: Election) -> bool:
    return election.wait_until_leading(STOP, 0)


def test_a_plan_from_before_the_hand_over_does_not_let_the_relay_take_it_again() -> None:
    table = AssignmentTable(ME, rebalance_seconds=0.0)
    mine, others = elections(table)
    table.renew({"shop": Assignment(None, ME, Why.FREE)})
    assert leads(mine)
    table.renew({"shop": Assignment(ME, OTHER, Why.BALANCE)})
    assert mine.gives_way() is not None
    mine.resign()
    assert not leads(mine), "the plan still shows this relay as the leader"
    assert leads(others)


def test_a_relay_that_resigned_and_should_lead_takes_it_again() -> None:
    table = AssignmentTable(ME, rebalance_seconds=0.0)
    mine, _ = elections(table)
    table.renew({"shop": Assignment(ME, ME, Why.STAYS)})
    assert leads(mine)
    mine.resign()
    assert leads(mine)


def test_a_leader_whose_resignation_failed_may_find_itself_leading() -> None:
    table = AssignmentTable(ME, rebalance_seconds=0.0)
    mine, _ = elections(table)
    table.renew({"shop": Assignment(None, ME, Why.FREE)})
    assert leads(mine)
    table.renew({"shop": Assignment(ME, OTHER, Why.BALANCE)})
    assert leads(mine)


def test_a_relay_that_may_not_take_an_instance_does_not_watch_it() -> None:
    table, session = AssignmentTable(ME, rebalance_seconds=0.0), MemorySession(MemoryZooKeeper())
    mine = Election(session, "/leader", ME, "shop", table)  # type: ignore[arg-type]
    table.renew({"shop": Assignment(OTHER, OTHER, Why.STAYS)})
    assert not leads(mine)
    assert session.watches == 0
    table.renew({"shop": Assignment(OTHER, ME, Why.MOVED)})
    assert leads(mine)
    assert session.watches == 1


def test_a_waiting_relay_takes_the_instance_when_the_plan_names_it() -> None:
    table, session = AssignmentTable(ME, rebalance_seconds=0.0), MemorySession(MemoryZooKeeper())
    mine = Election(session, "/leader", ME, "shop", table)  # type: ignore[arg-type]
    table.renew({"shop": Assignment(OTHER, OTHER, Why.STAYS)})
    won: list[bool] = []
    waiting = threading.Thread(target=lambda: won.append(mine.wait_until_leading(STOP, 60)))
    waiting.start()
    table.renew({"shop": Assignment(None, ME, Why.FREE)})
    waiting.join(30)
    assert won == [True]


def test_a_relay_that_lost_its_session_leads_since_no_time() -> None:
    table, session = AssignmentTable(ME, rebalance_seconds=0.0), MemorySession(MemoryZooKeeper())
    mine = Election(session, "/leader", ME, "shop", table)  # type: ignore[arg-type]
    table.renew({"shop": Assignment(None, ME, Why.FREE)})
    assert leads(mine)
    assert mine.leading_since_ms is not None
    session.expire()
    table.renew({"shop": Assignment(OTHER, OTHER, Why.STAYS)})
    assert not leads(mine)
    assert mine.leading_since_ms is None


def test_a_leader_is_confirmed_only_by_an_answer_of_zookeeper() -> None:
    server = MemoryZooKeeper()
    session = MemorySession(server)
    mine = Election(session, "/leader", ME)  # type: ignore[arg-type]
    assert not mine.is_confirmed()
    assert leads(mine)
    assert mine.is_confirmed()
    session.cut()
    assert not mine.is_confirmed(), "the session may have ended meanwhile"
    session.expire()
    assert not mine.is_confirmed()
