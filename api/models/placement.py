"""Bodies about which relay runs which instance, and about the operators' overrides."""

from pydantic import BaseModel, ConfigDict, Field

from relay.operations import HandOver
from relay.state import Candidate, InstanceAssignment, PlacementOverride


class CandidateView(BaseModel):
    """A relay whose settings contain the instance.

    `code` and `reason` tell why the relay cannot run the instance now; they are empty if it can.
    """

    relay: str
    server: str
    in_maintenance: bool
    code: str
    reason: str

    @classmethod
    def of(cls, candidate: Candidate) -> "CandidateView":
        """Return the view of a candidate."""
        return cls(
            relay=candidate.relay,
            server=candidate.server,
            in_maintenance=candidate.in_maintenance,
            code=candidate.code,
            reason=candidate.reason,
        )


class InstancePlaceView(BaseModel):
    """The assignment of an instance: the relay that leads it, the target of an ordered move (empty:
    none), its preferred servers, and the relays that could run it.
    """

    instance: str
    leader: str
    moved_to: str
    preferred: list[str]
    candidates: list[CandidateView]

    @classmethod
    def of(cls, place: InstanceAssignment) -> "InstancePlaceView":
        """Return the view of an instance's assignment."""
        return cls(
            instance=place.instance,
            leader=place.leader,
            moved_to=place.moved_to,
            preferred=list(place.preferred),
            candidates=[CandidateView.of(each) for each in place.candidates],
        )


class WishView(BaseModel):
    """An operator's order for an instance or a server: author, time (Unix milliseconds) and reason.

    `to` is the target of a move; it is empty for a server in maintenance.
    """

    name: str
    to: str
    author: str
    comment: str
    saved_ms: int

    @classmethod
    def of(cls, name: str, override: PlacementOverride) -> "WishView":
        """Return the view of an order for the instance or server of this name."""
        return cls(
            name=name,
            to=override.to,
            author=override.note.author,
            comment=override.note.comment,
            saved_ms=override.note.saved_ms,
        )


class PlacementView(BaseModel):
    """The whole placement: leaders, candidates and overrides."""

    instances: list[InstancePlaceView]
    moves: list[WishView]
    maintenance: list[WishView]


class HandOverView(BaseModel):
    """An instance of a server that would be drained: the relay that would take it, or why it
    stays.
    """

    instance: str
    leader: str
    to: str = Field(
        description="The relay that would run the instance; the present leader: it stays."
    )
    reason: str = Field(description="Why it stays with its leader; empty if it moves.")

    @classmethod
    def of(cls, found: HandOver) -> "HandOverView":
        """Return the view of a hand-over."""
        return cls(instance=found.instance, leader=found.leader, to=found.to, reason=found.reason)


class MaintenancePreview(BaseModel):
    """The effect of putting a server into maintenance."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "server": "relay-2",
                "instances": [
                    {"instance": "shop", "leader": "relay-2", "to": "relay-1", "reason": ""}
                ],
            }
        }
    )

    server: str
    instances: list[HandOverView]


class MoveRequest(BaseModel):
    """The target of a move: the name of a relay or a server."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"to": "relay-2"}})

    to: str = Field(min_length=1)
