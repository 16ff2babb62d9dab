"""Pauses an instance whose messages the brokers refuse because this machine's clock is wrong."""

from collections.abc import Callable
from time import monotonic, time
from typing import Final

from relay.deadline import Deadline

_LONGEST_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.5
_SET_SECONDS: Final = 1.0


def pause_until_clock_is_set(wait: Callable[[float], bool]) -> None:
    """Wait until the wall clock jumps by more than a second, because somebody set it; at most 30
    seconds, because a clock may also be adjusted gradually.

    No Kafka client may be open meanwhile. librdkafka ends its waits at times of the wall clock. If
    the clock is set back by hours, such a wait lasts hours longer. `wait` pauses for a number of
    seconds, and returns whether the pause must end.
    """
    ahead_s, deadline = time() - monotonic(), Deadline.after(_LONGEST_SECONDS)
    while not deadline.passed and abs(time() - monotonic() - ahead_s) < _SET_SECONDS:
        if wait(min(_POLL_SECONDS, deadline.remaining_s)):
            return
