"""Reports for operators which relay runs which instance and which others could, and checks whether
a hand-over is possible.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from relay.errors import PlacementRefused
from relay.state.members.membership import RelayMember, RunnableInstance
from relay.state.placement_overrides import PlacementOverrides


@dataclass(frozen=True, slots=True)
class Candidate:
    """A relay whose settings contain the instance.

    `code` and `reason` say why it cannot run the instance now; "" if it can.
    """

    relay: str
    server: str
    in_maintenance: bool
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class InstanceAssignment:
    """An instance and the relays that could run it.

    `leader` is the leading relay, and `moved_to` the target of an operator's hand-over; "" if there
    is none.
    """

    instance: str
    leader: str
    moved_to: str
    preferred: tuple[str, ...]
    candidates: tuple[Candidate, ...]


def assignments(
    members: Sequence[RelayMember], leaders: Mapping[str, str], overrides: PlacementOverrides
) -> tuple[InstanceAssignment, ...]:
    """Return every instance that a running relay can run or leads, or that an operator handed over,
    sorted by name.
    """
    known = {each.instance for member in members for each in member.candidacies} | {
        *leaders,
        *overrides.moves,
    }
    return tuple(_place(instance, members, leaders, overrides) for instance in sorted(known))


def check_hand_over(place: InstanceAssignment, to: str) -> None:
    """Raise PlacementRefused if the instance `place` cannot be handed over to the relay or server
    `to` now.
    """
    there = [each for each in place.candidates if to in (each.relay, each.server)]
    if not there:
        raise PlacementRefused(
            f"No connected relay or server named {to} has instance {place.instance}."
        )
    if all(each.in_maintenance for each in there):
        raise PlacementRefused(f"{to} is in maintenance.")
    if all(each.code and each.relay != place.leader for each in there):
        raise PlacementRefused(
            f"{to} cannot run {place.instance} now: {there[0].code}: {there[0].reason}"
        )


def _place(
    instance: str,
    members: Sequence[RelayMember],
    leaders: Mapping[str, str],
    overrides: PlacementOverrides,
) -> InstanceAssignment:
    candidacies = [
        (member, each)
        for member in members
        for each in member.candidacies
        if each.instance == instance
    ]
    return InstanceAssignment(
        instance=instance,
        leader=leaders.get(instance, ""),
        moved_to=overrides.moves[instance].to if instance in overrides.moves else "",
        preferred=max((member.started_ms, each.preferred) for member, each in candidacies)[1]
        if candidacies
        else (),
        candidates=tuple(_candidate(member, each, overrides) for member, each in candidacies),
    )


def _candidate(
    member: RelayMember, runnable: RunnableInstance, overrides: PlacementOverrides
) -> Candidate:
    return Candidate(
        member.name,
        member.server,
        member.server in overrides.maintenance,
        runnable.code,
        runnable.reason,
    )
