"""Who may try, decided on values alone."""

from enum import Enum
from typing import Final

# The broker looks for expired transactions in steps, and clocks are not equal: a little less than the timeout explains it too.
_NEARLY: Final = 0.9


class AfterFence(Enum):
    """What a fenced relay does next."""

    NEW_PRODUCER = "new producer"
    REJOIN = "join the election again"
    CONTESTED = "join the election again, after growing pauses"


def after_fence(still_leading: bool, open_seconds: float, timeout_seconds: float) -> AfterFence:
    """Decide what a fenced relay does next; `still_leading` is the answer of a synced read.

    A leader may open a new producer only if its transaction was open long enough for the broker to end it. A leader that was fenced
    earlier was fenced by a producer that ZooKeeper's election does not know: an operator's act, or a relay with another ZooKeeper.
    """
    if not still_leading:
        return AfterFence.REJOIN
    return AfterFence.NEW_PRODUCER if open_seconds >= timeout_seconds * _NEARLY else AfterFence.CONTESTED
