"""Who may publish: knows nothing of rows."""

from relay.ha.decision import AfterFence, after_fence, who_leads
from relay.ha.election import Election

__all__ = ["AfterFence", "Election", "after_fence", "who_leads"]
