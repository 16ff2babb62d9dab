"""The plan of assignments is computed again only for another input."""

from dataclasses import replace

import pytest

from relay.ha import ClusterView
from relay.pipeline.supervision import assignment_loop
from relay.pipeline.supervision.assignment_loop import LastPlan
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
    for number, given in enumerate(inputs, 1):
        plan.of(*given)
        plan.of(*given)
        assert len(asked) == number
