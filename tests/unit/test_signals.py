"""A signal is heard whatever the main thread does when it comes."""

import signal
import threading
from collections.abc import Iterator

import pytest

from relay.signals import stop_on_signals

_NUMBERS = (signal.SIGTERM, signal.SIGINT)


class Guarded(threading.Event):
    """An event whose lock a test can hold, as a thread does for moments while it begins and ends to
    wait.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()

    def set(self) -> None:
        assert self.lock.acquire(timeout=5), "it waits for whom it interrupted"
        self.lock.release()
        super().set()


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Those of before come back."""
    before = {number: signal.getsignal(number) for number in _NUMBERS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", _NUMBERS)
def test_a_signal_may_come_while_the_main_thread_holds_the_lock_of_the_event(
    number: signal.Signals,
) -> None:
    stop = Guarded()
    stop_on_signals(stop)
    with stop.lock:
        signal.raise_signal(number)
    assert stop.wait(5)


def test_more_signals_change_nothing() -> None:
    stop = threading.Event()
    stop_on_signals(stop)
    for number in (*_NUMBERS, *_NUMBERS):
        signal.raise_signal(number)
    assert stop.wait(5)
