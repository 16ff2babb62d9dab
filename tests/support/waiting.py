"""Waits for a condition up to a deadline."""

from collections.abc import Callable
from threading import Event
from time import monotonic
from typing import Final

from relay.deadline import Deadline

_SHORTEST_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 0.1
_SHARE_OF_WAIT: Final = 0.05
"""Pause between two checks, as a share of the time waited so far, within the two bounds. Shorter
pauses of many parallel waits would keep the machine busy.
"""


def wait_until(holds: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Return when the condition holds; fail with `what` after the time.

    The time is for busy machines: a condition that holds ends the wait at once.
    """
    begun_s, deadline, pause = monotonic(), Deadline.after(seconds), Event()
    while not holds():
        assert not deadline.passed, f"waited {seconds} s in vain: {what}"
        waited_s = monotonic() - begun_s
        pause.wait(min(_LONGEST_PAUSE_S, max(_SHORTEST_PAUSE_S, waited_s * _SHARE_OF_WAIT)))
