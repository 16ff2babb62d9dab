"""Who should run what: stable, even, and as operators and settings wish."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.ha import Assignment, ClusterView, Member, Why, assign

INSTANCES = [f"i{number}" for number in range(8)]
MEMBERS = [f"r{number}" for number in range(5)]
SERVERS = ["s0", "s1", "s2"]


@st.composite
def views(draw: st.DrawFn) -> ClusterView:
    """Any cluster: relays that know only some instances, unready ones, leaders that have gone,
    overrides that cannot be met.
    """
    instances = st.frozensets(st.sampled_from(INSTANCES))
    names = draw(st.lists(st.sampled_from(MEMBERS), unique=True))
    members = tuple(
        Member(name, draw(st.sampled_from(SERVERS)), draw(instances), draw(instances))
        for name in names
    )
    return ClusterView(
        members,
        leaders=draw(st.dictionaries(st.sampled_from(INSTANCES), st.sampled_from(MEMBERS))),
        preferred=draw(
            st.dictionaries(
                st.sampled_from(INSTANCES),
                st.lists(st.sampled_from(SERVERS), max_size=2).map(tuple),
            )
        ),
        moves=draw(
            st.dictionaries(
                st.sampled_from(INSTANCES), st.sampled_from([*MEMBERS, *SERVERS]), max_size=2
            )
        ),
        maintenance=draw(st.frozensets(st.sampled_from(SERVERS), max_size=2)),
    )


def alike(count: int) -> tuple[Member, ...]:
    return tuple(Member(name, f"server-{name}", frozenset(INSTANCES)) for name in MEMBERS[:count])


def able(view: ClusterView, instance: str) -> dict[str, Member]:
    """The members that could run the instance now, whether or not their server is in
    maintenance.
    """
    leader = view.leaders.get(instance)
    return {
        each.name: each
        for each in view.members
        if instance in each.instances and (each.name == leader or instance not in each.unready)
    }


@given(views())
def test_every_instance_has_a_seat_at_a_relay_that_knows_it_and_can_if_one_can(
    view: ClusterView,
) -> None:
    assignments = assign(view)
    assert set(assignments) == {
        instance for member in view.members for instance in member.instances
    }
    members = {member.name: member for member in view.members}
    for instance, assignment in assignments.items():
        assert instance in members[assignment.wanted].instances
        assert assignment.leader == view.leaders.get(instance)
        candidates = able(view, instance)
        assert not candidates or assignment.wanted in candidates


@given(views())
def test_nothing_runs_in_maintenance_that_could_run_elsewhere(view: ClusterView) -> None:
    servers = {member.name: member.server for member in view.members}
    for instance, assignment in assign(view).items():
        if any(member.server not in view.maintenance for member in able(view, instance).values()):
            assert servers[assignment.wanted] not in view.maintenance


@given(views())
def test_wishes_are_met_by_who_can_a_move_before_a_preference(view: ClusterView) -> None:
    for instance, assignment in assign(view).items():
        candidates = able(view, instance)
        best = {
            name: each for name, each in candidates.items() if each.server not in view.maintenance
        } or candidates
        for name in (view.moves.get(instance, ""), *view.preferred.get(instance, ())):
            there = {each.name for each in best.values() if name in (each.name, each.server)}
            if there:
                assert assignment.wanted in there
                break


@given(views())
def test_a_plan_that_was_carried_out_moves_nothing(view: ClusterView) -> None:
    plan = {instance: assignment.wanted for instance, assignment in assign(view).items()}
    done = replace(view, leaders=plan)
    again = assign(done)
    moved = {
        instance for instance, assignment in again.items() if assignment.wanted != plan[instance]
    }
    assert not {each for each in moved if plan[each] in able(view, each)}, (
        "only one that nobody could run may look for another place"
    )


@given(views(), st.randoms(use_true_random=False))
def test_the_order_of_what_is_seen_means_nothing(view: ClusterView, chance: Random) -> None:
    members = list(view.members)
    chance.shuffle(members)
    assert assign(replace(view, members=tuple(members))) == assign(view)


@given(views())
def test_no_single_move_would_make_the_numbers_more_even(view: ClusterView) -> None:
    assignments = assign(view)
    loads = Counter(assignment.wanted for assignment in assignments.values())
    for instance, assignment in assignments.items():
        named = {view.moves.get(instance, ""), *view.preferred.get(instance, ())}
        candidates = able(view, instance)
        best = {
            name: each for name, each in candidates.items() if each.server not in view.maintenance
        } or candidates
        if not best or any({each.name, each.server} & named for each in best.values()):
            continue
        assert loads[assignment.wanted] - min(loads[name] for name in best) <= 1


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_a_relay_that_joins_takes_its_share_and_nothing_else_moves(count: int) -> None:
    before = {
        instance: assignment.wanted
        for instance, assignment in assign(ClusterView(alike(count - 1))).items()
    }
    assignments = assign(ClusterView(alike(count), before))
    moved = {
        instance
        for instance, assignment in assignments.items()
        if assignment.wanted != before[instance]
    }
    assert {assignments[each].wanted for each in moved} == {MEMBERS[count - 1]}
    assert len(moved) == len(INSTANCES) // count
    assert {assignments[each].why for each in moved} == {Why.BALANCE}
    assert not any(assignment.urgent for assignment in assignments.values())


@pytest.mark.parametrize("gone", MEMBERS[:4])
def test_a_relay_that_leaves_moves_only_what_it_ran(gone: str) -> None:
    before = {
        instance: assignment.wanted
        for instance, assignment in assign(ClusterView(alike(4))).items()
    }
    left = {instance: name for instance, name in before.items() if name != gone}
    assignments = assign(ClusterView(tuple(each for each in alike(4) if each.name != gone), left))
    assert {instance: assignments[instance].wanted for instance in left} == left
    assert {assignments[each].why for each in assignments if each not in left} == {Why.FREE}


def worker_pair(*servers: str) -> tuple[Member, ...]:
    """Two relays on each server, as a relay of two worker processes is."""
    return tuple(
        Member(f"{server}-{number}", server, frozenset(INSTANCES))
        for server in servers
        for number in (1, 2)
    )


def by_member(view: ClusterView) -> Counter[str]:
    return Counter(assignment.wanted for assignment in assign(view).values())


def test_the_relays_of_a_preferred_server_share_its_instances() -> None:
    preferred = dict.fromkeys(INSTANCES, ("a",))
    members = worker_pair("a", "b")
    assert by_member(ClusterView(members, preferred=preferred)) == {"a-1": 4, "a-2": 4}
    on_one = ClusterView(members, dict.fromkeys(INSTANCES, "a-1"), preferred=preferred)
    assert by_member(on_one) == {"a-1": 4, "a-2": 4}
    moved = [each for each in assign(on_one).values() if each.wanted != each.leader]
    assert {each.why for each in moved} == {Why.BALANCE}
    gone = replace(on_one, members=members[1:])
    assert by_member(gone) == {"a-2": 8}


def test_instances_that_were_moved_to_a_server_are_shared_there() -> None:
    moves = dict.fromkeys(INSTANCES, "b")
    view = ClusterView(worker_pair("a", "b"), dict.fromkeys(INSTANCES, "a-1"), moves=moves)
    assert by_member(view) == {"b-1": 4, "b-2": 4}
    assert {each.why for each in assign(view).values()} == {Why.MOVED}
    to_one = replace(view, moves=dict.fromkeys(INSTANCES, "b-2"))
    assert by_member(to_one) == {"b-2": 8}


def test_a_drained_server_gives_away_what_all_of_its_relays_lead() -> None:
    leaders = dict(zip(INSTANCES, ["a-1", "a-2"] * 4, strict=True))
    view = ClusterView(worker_pair("a", "b"), leaders, maintenance=frozenset({"a"}))
    assert by_member(view) == {"b-1": 4, "b-2": 4}
    assert {each.why for each in assign(view).values()} == {Why.DRAINED}


@pytest.mark.parametrize(
    ("view", "assignment"),
    [
        (ClusterView(alike(2)), Assignment(None, "r0", Why.FREE)),
        (ClusterView(alike(2), {"i0": "r1"}), Assignment("r1", "r1", Why.STAYS)),
        (ClusterView(alike(2), {"i0": "gone"}), Assignment("gone", "r0", Why.BALANCE)),
        (
            ClusterView(alike(2), {"i0": "r0"}, moves={"i0": "r1"}),
            Assignment("r0", "r1", Why.MOVED),
        ),
        (
            ClusterView(alike(2), {"i0": "r0"}, moves={"i0": "server-r1"}),
            Assignment("r0", "r1", Why.MOVED),
        ),
        (
            ClusterView(alike(2), {"i0": "r0"}, moves={"i0": "gone"}),
            Assignment("r0", "r0", Why.STAYS),
        ),
        (
            ClusterView(alike(2), {"i0": "r0"}, preferred={"i0": ("none", "server-r1")}),
            Assignment("r0", "r1", Why.PREFERRED),
        ),
        (
            ClusterView(alike(2), {"i0": "r0"}, maintenance=frozenset({"server-r0"})),
            Assignment("r0", "r1", Why.DRAINED),
        ),
        (
            ClusterView(alike(1), {"i0": "r0"}, maintenance=frozenset({"server-r0"})),
            Assignment("r0", "r0", Why.STAYS),
        ),
        (
            ClusterView(
                alike(2), {"i0": "r0"}, moves={"i0": "r1"}, maintenance=frozenset({"server-r1"})
            ),
            Assignment("r0", "r0", Why.STAYS),
        ),
        (
            ClusterView(
                (
                    Member("r0", "s", frozenset({"i0"})),
                    Member("r1", "t", frozenset({"i0"}), frozenset({"i0"})),
                ),
                {"i0": "r0"},
            ),
            Assignment("r0", "r0", Why.STAYS),
        ),
        (
            ClusterView(
                (
                    Member("r0", "s", frozenset({"i0"}), frozenset({"i0"})),
                    Member("r1", "t", frozenset({"i0"})),
                )
            ),
            Assignment(None, "r1", Why.FREE),
        ),
        (
            ClusterView(
                (
                    Member("r0", "s", frozenset({"i0"}), frozenset({"i0"})),
                    Member("r1", "t", frozenset({"i0"})),
                ),
                {"i0": "r0"},
            ),
            Assignment("r0", "r0", Why.STAYS),
        ),
    ],
    ids=[
        "the first of equals",
        "where it runs",
        "its leader is about to end",
        "moved to a relay",
        "moved to a server",
        "a move to nobody",
        "the first preferred server that is there",
        "drained",
        "the last one keeps it",
        "maintenance before a move",
        "not to who could not",
        "who could, before who could not",
        "a leader's own trouble is no reason to move",
    ],
)
def test_one_instance(view: ClusterView, assignment: Assignment) -> None:
    one = replace(
        view, members=tuple(replace(each, instances=frozenset({"i0"})) for each in view.members)
    )
    assert assign(one) == {"i0": assignment}
