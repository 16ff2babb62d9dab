"""One session of a leader: the order in which it opens, and how it ends."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Final

import pytest

from relay.errors import (
    AskedToStop,
    BatchAborted,
    BrokerUnreachable,
    MappingLost,
    PositionLost,
    RelayError,
    StoreUnreachable,
    SwitchingSource,
)
from relay.ha import Assignment, Why
from relay.model.positions.position import BinlogPosition
from relay.pipeline import interruptible
from relay.state import StartNote, SwitchNote
from tests.unit.pipeline.checkpoint.test_commit_steps import RECORD, end, row, transaction
from tests.unit.pipeline.supervision.leader.run_fakes import put
from tests.unit.pipeline.supervision.leader.run_world import (
    ONE,
    TWO,
    World,
    answered_after,
    half_a_transaction,
    play,
    stop_when_published,
)

AT_LEAST_ONCE: Final = {"delivery": "at_least_once"}
OTHER: Final = Assignment(wanted="other", why=next(iter(Why)), leader="me")


# Opening, running and ending


def test_it_opens_producer_record_and_source_in_this_order_and_ends_them(world: World) -> None:
    relay = world.leader()
    stop_when_published(relay, world, 3)
    relay.run()
    opening = ["producer opens", "record", "choice", "source opens", "rows flow"]
    assert relay.journal[: len(opening)] == opening
    # A busy machine may give the rows one by one: each gets a commit.
    assert [step for step, _ in groupby(relay.journal[len(opening) :])] == [
        "commit",
        "reader stops",
        "abort",
        "source closes",
        "producer closes",
    ]
    assert (world.rows, world.committed_to, relay.stats.totals.aborts) == (3, 299, {})


def test_the_next_session_begins_after_what_is_committed(world: World) -> None:
    relay = world.leader(ONE)

    def steps() -> Iterator[Callable[[], bool]]:
        yield from half_a_transaction(relay, world)
        relay.called = True
        yield lambda: False

    play(relay, steps())
    with pytest.raises(BatchAborted):
        relay.run()
    relay.items, relay.called = TWO, False
    stop_when_published(relay, world, 3)
    relay.run()
    assert (world.rows, world.committed_to) == (3, 299)


def test_a_first_start_commits_its_position_before_the_first_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(monkeypatch, None)
    relay = world.leader()
    stop_when_published(relay, world, 3)
    relay.run()
    assert world.kafka.topics()[0] == []
    assert relay.notes.note == StartNote("b.1", 4, "")


def test_a_first_start_needs_its_note_and_a_later_one_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """ZooKeeper is away after the record was read."""
    for record, refused in ((None, True), (RECORD, False)):
        world = World(monkeypatch, record)
        relay = world.leader()
        relay.failover.before_choice = relay.notes.leave
        stop_when_published(relay, world, 3)
        if refused:
            with pytest.raises(StoreUnreachable):
                relay.run()
            assert (world.rows, relay.journal[-1]) == (0, "producer closes")
        else:
            relay.run()
            assert world.rows == 3


def test_a_note_without_a_record_is_a_lost_position(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, None)
    relay = world.leader()
    relay.notes.note = StartNote("b.1", 4, "")
    with pytest.raises(PositionLost):
        relay.run()
    assert relay.journal == ["producer opens", "record", "producer closes"]


def test_a_wiped_zookeeper_moves_no_position(world: World) -> None:
    relay = world.leader()
    relay.notes.note = None
    relay.around.mapping_error = MappingLost("ZooKeeper has no mapping.")
    with pytest.raises(MappingLost):
        relay.run()
    assert relay.journal == ["producer opens", "record", "producer closes"]
    assert world.kafka.visible == []


def test_a_switch_is_audited_and_committed_before_the_first_row(world: World) -> None:
    relay = world.leader()
    relay.failover.switches = (SwitchNote(to="standby", place="b.1:4", at_ms=1),)
    stop_when_published(relay, world, 3)
    relay.run()
    assert world.kafka.topics()[0] == ["audit"]
    assert world.rows == 3
    assert relay.journal.index("commit") < relay.journal.index("switched to standby")
    assert relay.journal.index("switched to standby") < relay.journal.index("rows flow")


# Ends while a batch is open or a commit is under way


@pytest.mark.parametrize("error", [SwitchingSource("x"), BatchAborted("x")])
def test_an_open_batch_is_aborted_and_counted_by_what_ended_it(
    world: World, error: RelayError
) -> None:
    relay = world.leader(ONE)

    def steps() -> Iterator[Callable[[], bool]]:
        yield from half_a_transaction(relay, world)
        raise error

    play(relay, steps())
    with pytest.raises(type(error)):
        relay.run()
    assert (world.rows, world.committed_to) == (1, 199)
    assert relay.journal[-3:] == ["reader stops", "abort", "producer closes"]
    assert relay.stats.totals.aborts == {error.code: 1}
    assert relay.open_seconds == 1.0


def test_an_abort_that_is_not_answered_does_not_hide_what_ended_the_session(world: World) -> None:
    relay = world.leader()

    def unanswered() -> None:
        raise BatchAborted("No broker answers.")

    def script() -> None:
        raise BrokerUnreachable("gone")

    relay.producer.on_abort = unanswered
    relay.script = script
    with pytest.raises(BrokerUnreachable):
        relay.run()
    assert relay.journal[-2:] == ["abort", "producer closes"]


def test_a_stop_while_the_producer_opens_leaves_the_producer_alone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interruptible, "GRACE_SECONDS", 0.05)
    relay = world.leader()
    end_of_test = threading.Event()

    def blocks() -> None:
        relay.stop.set()
        end_of_test.wait(20)

    relay.producer.before_open = blocks
    with pytest.raises(AskedToStop):
        relay.run()
    assert relay.journal == ["producer opens"]
    end_of_test.set()


def test_a_stop_while_a_commit_is_unanswered_leaves_the_producer_alone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No call may follow an unanswered commit."""
    monkeypatch.setattr(interruptible, "GRACE_SECONDS", 0.05)
    world.kafka.holds = True
    relay = world.leader()
    relay.script = lambda: relay.stop.set() if "commit" in relay.journal else None
    with pytest.raises(AskedToStop):
        relay.run()
    assert relay.journal[-2:] == ["commit", "reader stops"]
    assert (world.rows, relay.stats.totals.commits) == (0, 0)


def test_a_stop_waits_for_the_answer_to_the_commit(world: World) -> None:
    world.kafka.holds = True
    relay, stopped = world.leader(), threading.Event()

    def script() -> None:
        if "commit" in relay.journal:
            relay.stop.set()
            stopped.set()

    relay.script = script
    with answered_after(stopped, relay, None):
        relay.run()
    assert (world.rows, relay.stats.totals.commits) == (3, 1)


# Ends without an error


def test_a_hand_over_publishes_the_open_transaction_to_its_end(world: World) -> None:
    relay = world.leader(ONE)

    def steps() -> Iterator[Callable[[], bool]]:
        yield from half_a_transaction(relay, world)
        put(relay, [row(21), end(2), *transaction(3, 30)])
        relay.assignments.wanted = OTHER
        yield lambda: False

    play(relay, steps())
    relay.run()
    assert (world.rows, world.committed_to) == (3, 299)
    assert relay.stats.totals.aborts == {}


def test_a_hand_over_does_not_wait_long_for_the_rest_of_a_transaction(world: World) -> None:
    relay = world.leader(ONE)

    def steps() -> Iterator[Callable[[], bool]]:
        yield from half_a_transaction(relay, world)
        relay.assignments.wanted = OTHER
        yield lambda: False

    play(relay, steps())
    relay.run()
    assert (world.rows, world.committed_to) == (1, 199)
    assert relay.stats.totals.aborts == {AskedToStop.code: 1}


def test_a_pause_ends_the_session_with_everything_committed(world: World) -> None:
    relay = world.leader()
    relay.script = lambda: setattr(relay.flow, "paused", world.rows == 3)
    relay.run()
    assert (world.rows, world.committed_to, relay.journal[-1]) == (3, 299, "producer closes")


def test_an_operators_call_ends_the_session_at_the_committed_position(world: World) -> None:
    relay = world.leader()
    relay.script = lambda: setattr(relay, "called", world.rows == 3)
    with pytest.raises(BatchAborted, match="operator"):
        relay.run()
    moved = replace(RECORD, source=replace(RECORD.source, binlog=BinlogPosition("b.1", 199)))
    world.kafka.record = moved
    relay.called = False
    stop_when_published(relay, world, 5)
    relay.run()
    assert (world.rows, world.committed_to) == (5, 299)
