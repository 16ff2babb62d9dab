"""The proof of a failover, and what the servers page makes of the placement."""

from dataclasses import replace

import pytest

from api.models.failover import FailoverAnswer, ServerAnswer, SwitchAnswer
from api.models.instance import RelayView
from api.models.placement import InstancePlaceView, PlacementView
from api.services.watch import Moment
from api.web.views import failover, servers
from relay.operations import HandOver, hand_overs
from relay.state import (
    FailoverView,
    Note,
    PlacementOverride,
    PlacementOverrides,
    RelayMember,
    RunnableInstance,
    ServerView,
    StandingOrders,
    assignments,
)

GOOD = ServerView("standby", "db2:3306", answers=True, executed="u:1-9", behind=0)


@pytest.mark.parametrize(
    ("server", "mark", "steps"),
    [
        (GOOD, "yes", [True, True, True, True]),
        (replace(GOOD, answers=False), "no", [False, True, True, True]),
        (replace(GOOD, behind=-1), "no", [True, None, None, None]),
        (replace(GOOD, executed=""), "no", [True, None, None, None]),
        (replace(GOOD, gone="u:3"), "no", [True, False, True, True]),
        (replace(GOOD, errant="v:1"), "yes", [True, True, False, True]),
        (replace(GOOD, errant="v:1", behind=2), "wait", [True, True, False, False]),
        (replace(GOOD, behind=1240, lacking="u:10-1249"), "wait", [True, True, True, False]),
    ],
)
def test_the_proof_says_what_keeps_a_server_from_being_read(
    server: ServerView, mark: str, steps: list[bool | None]
) -> None:
    answer = ServerAnswer.of(server)
    assert failover.verdict(answer).mark == mark
    assert [each.holds for each in failover.proof(answer)] == steps


def answer_of(name: str, *known: ServerView, hold: bool = False) -> FailoverAnswer:
    orders = StandingOrders(hold=hold, by="ann" if hold else "")
    found = FailoverAnswer.of("", FailoverView("master", servers=known), orders, ())
    return found.model_copy(update={"instance": name})


def test_sources_that_cannot_switch_come_first_and_those_without_a_standby_last() -> None:
    master = ServerView("master", "db1:3306", answers=True, executed="u:1-9", behind=0)
    answers = [
        answer_of("alone", master),
        answer_of("able", master, GOOD, hold=True),
        answer_of("behind", master, replace(GOOD, behind=2)),
        answer_of("away", master, replace(GOOD, answers=False)),
    ]
    rows = failover.rows(answers)
    assert [each.instance for each in rows] == ["behind", "away", "able", "alone"]
    assert [each.behind for each in rows] == ["2", "0", "0", "\N{EN DASH}"]
    assert rows[2].orders == "switches held by ann"
    assert failover.sentence(rows).endswith(
        "3 of 4 sources have another server; 1 could switch now."
    )


def test_the_last_switch_is_the_newest_one() -> None:
    answer = answer_of("shop", GOOD)
    fields = dict.fromkeys(
        ("place", "reason", "lost", "left_out", "errant", "accepted_by", "asked_by", "source"), ""
    )
    history = [SwitchAnswer(to="master", epoch=at, at_ms=at, **fields) for at in (2, 1)]
    (row,) = failover.rows([answer.model_copy(update={"history": history})])
    assert row.switched_ms == 2


def member(name: str, *instances: str, unable: tuple[str, ...] = ()) -> RelayMember:
    found = tuple(RunnableInstance(each, (), "NO" if each in unable else "") for each in instances)
    return RelayMember(name, server=f"s-{name}", instances=instances, candidacies=found)


A = member("a", "one", "two", "three")
B = member("b", "one", "two", "three", unable=("three",))
C = member("c", "one")
LEADERS = {"one": "a", "two": "a", "three": "a"}


def test_a_drain_hands_over_what_others_can_run_and_keeps_the_rest() -> None:
    found = {
        each.instance: each for each in hand_overs([A, B, C], LEADERS, PlacementOverrides(), "s-a")
    }
    assert found["one"].to in ("b", "c")
    assert (found["two"].to, found["two"].reason) == ("b", "")
    assert (found["three"].to, "b: NO" in found["three"].reason) == ("a", True)


def test_a_drain_of_a_server_that_leads_nothing_changes_nothing() -> None:
    assert hand_overs([A, B], LEADERS, PlacementOverrides(), "s-b") == ()
    assert hand_overs([A, B], LEADERS, PlacementOverrides(), "nowhere") == ()


def test_nothing_goes_to_a_server_in_maintenance() -> None:
    wish = PlacementOverride(Note())
    overrides = PlacementOverrides(maintenance={"s-b": wish})
    (found,) = hand_overs([member("a", "one"), member("b", "one")], {"one": "a"}, overrides, "s-a")
    assert found == HandOver(
        "one", "a", "a", "No other connected relay has this instance in its configuration."
    )


def test_the_matrix_shows_instances_that_cannot_run_elsewhere_first() -> None:
    placement = PlacementView(
        instances=[
            InstancePlaceView.of(each)
            for each in assignments([A, B, C], LEADERS, PlacementOverrides())
        ],
        moves=[],
        maintenance=[],
    )
    moment = Moment(relays=tuple(RelayView.of(each) for each in (A, B, C)))
    first, *_ = servers.matrix(moment, placement, every=True)
    assert (first.instance, first.why) == ("three", "s-b: NO")
    assert [each.word for each in first.marks] == [
        "leads",
        "cannot run it",
        "not in its configuration",
    ]
    rows = servers.rows(moment, placement)
    assert [(each.leads, each.could) for each in rows] == [(3, 0), (0, 2), (0, 1)]
