"""Who may try, decided on values alone."""

from enum import Enum
from typing import Final

# The broker looks for expired transactions in steps, and clocks are not equal: a little less than the timeout explains it too.
_NEARLY: Final = 0.9


class AfterFence(Enum):
    """What a fenced relay does next."""

    NEW_PRODUCER = "new producer"
    REJOIN = "join the election again"


def after_fence(still_leading: bool, open_seconds: float, timeout_seconds: float) -> AfterFence:
    """Tell the broker's timeout of a long transaction from a newer self.

    Only who still leads by a synced read, and had its transaction open long enough for the broker to end it, may open a new producer.
    """
    if still_leading and open_seconds >= timeout_seconds * _NEARLY:
        return AfterFence.NEW_PRODUCER
    return AfterFence.REJOIN
