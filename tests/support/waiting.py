"""Waits for a condition up to a deadline."""

from collections.abc import Callable
from threading import Event

from relay.deadline import Deadline

_POLL_S = 0.02


def wait_until(holds: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Return when the condition holds; fail with `what` after the time.

    The time is for busy machines: a condition that holds ends the wait at once.
    """
    deadline = Deadline.after(seconds)
    pause = Event()
    while not holds():
        assert not deadline.passed, f"waited {seconds} s in vain: {what}"
        pause.wait(_POLL_S)
