"""Computes where the instances of a server would run if it were put into maintenance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from relay.ha import assign
from relay.pipeline.supervision.assignment_loop import cluster_view
from relay.state import PlacementOverrides, RelayMember


@dataclass(frozen=True, slots=True)
class HandOver:
    """An instance that a relay on the server leads now, and the relay that would lead it.

    to      the relay that would lead it; its present leader if no other relay can
    reason  why it stays, "" if another relay would lead it
    """

    instance: str
    leader: str
    to: str
    reason: str


def hand_overs(
    members: Sequence[RelayMember],
    leaders: Mapping[str, str],
    overrides: PlacementOverrides,
    server: str,
) -> tuple[HandOver, ...]:
    """Return a hand-over for each instance that a relay of the server leads, sorted by name.
    `leaders` maps instances to the relays that lead them.

    The result is a preview. When maintenance begins, the relays compute the placement by the same
    rules from the state at that time.
    """
    view = cluster_view(tuple(members), leaders, overrides)
    plan = assign(replace(view, maintenance=view.maintenance | {server}))
    there = {each.name for each in members if each.server == server}
    return tuple(
        HandOver(
            instance,
            each.leader,
            each.wanted,
            _why_not_elsewhere(members, there, instance) if each.wanted in there else "",
        )
        for instance, each in sorted(plan.items())
        if each.leader is not None and each.leader in there
    )


def _why_not_elsewhere(members: Sequence[RelayMember], there: set[str], instance: str) -> str:
    reasons = [
        f"{member.name}: {each.code}"
        for member in members
        for each in member.candidacies
        if member.name not in there and each.instance == instance and each.code
    ]
    if reasons:
        return f"No other relay can run it now ({', '.join(reasons)})."
    return "No other connected relay has this instance in its configuration."
