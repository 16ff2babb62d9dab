"""Who may publish, and from which server: knows nothing of rows."""

from relay.ha.decision import AfterFence, after_fence, who_leads
from relay.ha.election import Election
from relay.ha.source_decision import Action, Decision, Situation, SwitchRules, decide, followed_role

__all__ = [
    "Action",
    "AfterFence",
    "Decision",
    "Election",
    "Situation",
    "SwitchRules",
    "after_fence",
    "decide",
    "followed_role",
    "who_leads",
]
