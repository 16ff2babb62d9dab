"""The plan of assignments is computed again only for another input; seldom if it is costly."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.ha import ClusterView
from relay.pipeline.supervision import assignment_loop
from relay.pipeline.supervision.assignment_loop import LastPlan, rest_seconds
from relay.state import Note, PlacementOverride, PlacementOverrides, RelayMember


def test_an_equal_input_gives_the_same_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ClusterView] = []

    def assign(view: ClusterView) -> dict[str, object]:
        asked.append(view)
        return {}

    monkeypatch.setattr(assignment_loop, "assign", assign)
    member, plan = RelayMember("r1", instances=("shop",)), LastPlan()
    overrides = PlacementOverrides({"shop": PlacementOverride(Note("a", "b"), "r2")})
    inputs = [
        ((member,), {"shop": "r1"}, PlacementOverrides()),
        ((replace(member, server="s1"),), {"shop": "r1"}, PlacementOverrides()),
        ((member,), {}, PlacementOverrides()),
        ((member,), {}, overrides),
    ]
    for number, each in enumerate(inputs, 1):
        plan.of(*each)
        plan.of(*each)
        assert len(asked) == number


@given(st.floats(0, 100))
def test_polls_take_a_tenth_of_the_time_or_come_once_a_second(took_s: float) -> None:
    rest_s = rest_seconds(took_s)
    assert 0.1 <= rest_s <= 1
    assert rest_s == 1 or took_s / (took_s + rest_s) <= 0.1 + 1e-9
