"""Receives SIGTERM and SIGINT, by which a process is asked to end."""

import signal
import threading
from queue import SimpleQueue
from typing import Final

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


def stop_on_signals(stop: threading.Event) -> None:
    """Set `stop` at the first SIGTERM or SIGINT. Call it in the main thread.

    A signal handler interrupts the main thread at any point, even while that thread holds the lock
    of the event that it waits for. If the handler set the event, it would deadlock. So the handler
    puts the signal into a SimpleQueue, which allows that at any point, and another thread sets the
    event.
    """
    heard: SimpleQueue[int] = SimpleQueue()
    threading.Thread(
        target=_set_once_heard, args=(heard, stop), name="signals", daemon=True
    ).start()
    for number in _SIGNALS:
        signal.signal(number, lambda number, _frame: heard.put(number))


def _set_once_heard(heard: SimpleQueue[int], stop: threading.Event) -> None:
    heard.get()
    stop.set()
