"""A session that loses ZooKeeper, or meets a second leader: what becomes of a commit under way, and
which row is published by whom.
"""

import threading
from collections.abc import Callable, Iterator

import pytest

from relay.errors import BatchAborted, Fenced, LeadershipLost, RelayError
from tests.unit.pipeline.checkpoint.test_commit_steps import end, row, transaction
from tests.unit.pipeline.supervision.leader.run_fakes import PATH, put
from tests.unit.pipeline.supervision.leader.run_world import (
    ONE,
    World,
    answered_after,
    half_a_transaction,
    play,
    stop_when_published,
)
from tests.unit.pipeline.supervision.leader.test_leader_run import AT_LEAST_ONCE

# The loss of the leadership


@pytest.mark.parametrize("answer", [None, Fenced("x"), BatchAborted("x")])
def test_a_lost_zookeeper_session_waits_for_the_commit_whose_error_comes_first(
    world: World, answer: RelayError | None
) -> None:
    world.kafka.holds = True
    relay, lost = world.leader(), threading.Event()

    def script() -> None:
        if "commit" in relay.journal and not lost.is_set():
            relay.zookeeper.expire()
            lost.set()

    relay.script = script
    expected = LeadershipLost if answer is None else type(answer)
    with answered_after(lost, relay, answer), pytest.raises(expected):
        relay.run()
    assert (world.rows, relay.stats.totals.commits) == ((3, 1) if answer is None else (0, 0))
    assert relay.journal[-3:] == ["reader stops", "abort", "producer closes"]


def test_a_session_that_is_lost_within_a_transaction_aborts_it(world: World) -> None:
    relay = world.leader(ONE)

    def steps() -> Iterator[Callable[[], bool]]:
        yield from half_a_transaction(relay, world)
        relay.zookeeper.expire()
        yield lambda: False

    play(relay, steps())
    with pytest.raises(LeadershipLost):
        relay.run()
    assert (world.rows, world.committed_to) == (1, 199)
    assert relay.stats.totals.aborts == {"LEADERSHIP_LOST": 1}


def test_a_cut_connection_ends_the_session_only_where_nothing_fences_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(monkeypatch)
    relay = world.leader()

    def cut() -> None:
        relay.zookeeper.cut()
        if world.rows == 3:
            relay.stop.set()

    relay.script = cut
    relay.run()
    assert world.rows == 3

    unfenced = World(monkeypatch)
    second = unfenced.leader(transaction=AT_LEAST_ONCE)
    second.script = second.zookeeper.cut
    with pytest.raises(LeadershipLost):
        second.run()


# Two leaders


def test_a_leader_that_does_not_see_its_loss_is_fenced_and_no_row_comes_twice(
    world: World,
) -> None:
    """The connection to ZooKeeper is cut; its server ends the session, and another relay leads."""
    first, second = world.leader(ONE), world.relay()

    def steps() -> Iterator[Callable[[], bool]]:
        yield from half_a_transaction(first, world)
        first.zookeeper.cut()
        world.zookeeper.drop(first.zookeeper)
        assert second.take_leadership()
        assert first.election.leads(), "the cut relay has not seen that it leads no more"
        stop_when_published(second, world, 3)
        second.run()
        put(first, [row(21), end(2)])
        yield lambda: False

    play(first, steps())
    with pytest.raises(Fenced):
        first.run()
    assert (world.rows, world.committed_to) == (3, 299)
    assert second.election.leads()


@pytest.mark.parametrize("applied", [True, False])
def test_the_next_leader_begins_after_the_commit_that_its_fence_decided(
    world: World, applied: bool
) -> None:
    """Kafka finishes or aborts the transaction that the first leader's commit left open, before it
    lets the second producer open.
    """
    first, second = world.leader(), world.relay()
    world.kafka.holds = True

    def decide() -> None:
        world.kafka.holds = False
        if applied:
            world.kafka.apply()
        else:
            world.kafka.refuse(Fenced("The second producer was opened."))

    def takes_over() -> None:
        if "commit" in first.journal and not second.journal:
            first.zookeeper.expire()
            assert second.take_leadership()
            second.producer.before_open = decide
            stop_when_published(second, world, 3)
            if applied:
                second.stop.set()
            second.run()

    first.script = takes_over
    with pytest.raises(Fenced):
        first.run()
    assert (world.rows, world.committed_to) == (3, 299)


@pytest.mark.parametrize("deposed", [True, False])
def test_who_is_fenced_resigns_only_its_own_node(world: World, deposed: bool) -> None:
    """The other producer may belong to the next leader, or to a relay without ZooKeeper's node."""
    first, second = world.leader(), world.relay()

    def fences() -> None:
        if deposed:
            first.zookeeper.expire()
            assert second.take_leadership()
        second.producer.open()
        put(first, [*transaction(3, 30)])
        first.script = lambda: None

    first.script = fences
    with pytest.raises(Fenced):
        first.run()
    first.election.resign()
    assert not first.election.leads()
    assert second.election.leads() is deposed
    assert (PATH in world.zookeeper.nodes) is deposed
    assert second.take_leadership() or deposed


def test_a_session_that_begins_without_the_node_publishes_nothing_further(world: World) -> None:
    """The node went between the election and the session."""
    relay = world.leader()
    relay.zookeeper.expire()
    with pytest.raises(LeadershipLost):
        relay.run()
    assert relay.producer.open_seconds == 0.0
    assert relay.journal[-1] == "producer closes"
