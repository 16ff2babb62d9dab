"""Who may publish, and from which server: knows nothing of rows."""

from relay.ha.digest_decision import decide_by_digest, place_unknown
from relay.ha.election import Election
from relay.ha.placement import ClusterView, Member, Seat, Why, place
from relay.ha.seats import Seats
from relay.ha.source_decision import Action, Decision, Situation, SwitchRules, decide, followed_role

__all__ = [
    "Action",
    "ClusterView",
    "Decision",
    "Election",
    "Member",
    "Seat",
    "Seats",
    "Situation",
    "SwitchRules",
    "Why",
    "decide",
    "decide_by_digest",
    "followed_role",
    "place",
    "place_unknown",
]
