"""Waits for a condition up to a deadline."""

from collections.abc import Callable
from threading import Event
from time import monotonic
from typing import Final

from relay.deadline import Deadline

_SHORTEST_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 0.25
_SHARE_OF_WAIT: Final = 0.05
"""Pause between two checks, as a share of the time waited so far, within the two bounds. Shorter
pauses of many parallel waits would keep the machine busy.
"""
_PAUSE_PER_CHECK: Final = 2.0
"""Shortest pause after a check, as a multiple of the check's own time: a check that reads a topic
then takes at most a third of the wait, also where others compute.
"""


def wait_until(holds: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Return when the condition holds; fail with `what` after the time.

    The time is for busy machines: a condition that holds ends the wait at once.
    """
    begun_s, deadline, pause = monotonic(), Deadline.after(seconds), Event()
    checked_s = begun_s
    while not holds():
        assert not deadline.passed, f"waited {seconds} s in vain: {what}"
        now_s = monotonic()
        wanted_s = max((now_s - begun_s) * _SHARE_OF_WAIT, (now_s - checked_s) * _PAUSE_PER_CHECK)
        pause.wait(min(_LONGEST_PAUSE_S, max(_SHORTEST_PAUSE_S, wanted_s)))
        checked_s = monotonic()
