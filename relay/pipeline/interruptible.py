"""Waits for answers of servers; a stop of the instance ends these waits."""

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
    """Return the future's result, and wait for it.

    `what` names the call in the error. Raises AskedToStop if `stop` is set and no result arrives in
    the next 2 seconds, and the error of the future.
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
    """Return the result of `call`, which runs in a daemon thread.

    If `stop` is set and no result arrives in the next 2 seconds, the thread is abandoned and
    AskedToStop is raised. Raises the errors of `call`, and ResourcesExhausted. `what` names the
    call in errors.
    """
    future: Future[Answer] = Future()
    RelayThread("ask", what, complete_future, future, call).start()
    return answer_of(future, stop, what)
