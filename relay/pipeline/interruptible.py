"""Waits for other servers that end when the instance is stopped."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Final, TypeVar

from relay.errors import AskedToStop
from relay.future_of_call import complete_future
from relay.threads import RelayThread

GRACE_SECONDS: Final = 2.0
"""Seconds that an answer may take after a stop was requested; a healthy broker needs some
milliseconds.
"""

_POLL_SECONDS: Final = 0.1

Answer = TypeVar("Answer")


def answer_of(future: "Future[Answer]", stop: threading.Event, what: str) -> Answer:
    """Wait for the future's result.

    Raises AskedToStop if a stop came first and `what` was not answered soon after.
    """
    while not stop.is_set():
        if wait((future,), _POLL_SECONDS).done:
            break
    if not wait((future,), GRACE_SECONDS).done:
        raise AskedToStop(
            f"{what} was not answered within {GRACE_SECONDS:.0f} s of the request to stop."
        )
    return future.result()


def answered(call: Callable[[], Answer], stop: threading.Event, what: str) -> Answer:
    """Make a call that waits for a server, in a daemon thread that a stop abandons.

    Raises the call's errors, AskedToStop or ResourcesExhausted.
    """
    future: Future[Answer] = Future()
    RelayThread("ask", what, complete_future, future, call).start()
    return answer_of(future, stop, what)
