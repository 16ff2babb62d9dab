"""Decides which relay publishes an instance and from which server. It handles no rows."""

from relay.ha.assignments import AssignmentTable
from relay.ha.digest_decision import decide_by_digest, landmark_unknown
from relay.ha.election import Election
from relay.ha.first_server import first_server
from relay.ha.placement import Assignment, ClusterView, Member, Why, assign
from relay.ha.source_decision import Action, Decision, Situation, SwitchRules, decide, followed_role

__all__ = [
    "Action",
    "Assignment",
    "AssignmentTable",
    "ClusterView",
    "Decision",
    "Election",
    "Member",
    "Situation",
    "SwitchRules",
    "Why",
    "assign",
    "decide",
    "decide_by_digest",
    "first_server",
    "followed_role",
    "landmark_unknown",
]
