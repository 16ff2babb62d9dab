"""Waiting ends with the interruptible, with its error, or soon after a stop."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

import pytest

from relay.errors import AskedToStop, BrokerUnreachable
from relay.pipeline import interruptible
from relay.pipeline.interruptible import answer_of, answered


@pytest.fixture
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interruptible, "GRACE_SECONDS", 0.2)


def stopped() -> threading.Event:
    stop = threading.Event()
    stop.set()
    return stop


def failing(error: Exception) -> Callable[[], None]:
    def call() -> None:
        raise error

    return call


def test_the_answer_is_handed_on() -> None:
    assert answered(lambda: 7, threading.Event(), "It") == 7


def test_so_is_the_error() -> None:
    with pytest.raises(BrokerUnreachable, match="gone"):
        answered(failing(BrokerUnreachable("gone")), threading.Event(), "It")


def test_an_error_of_the_call_that_looks_like_the_end_of_waiting_is_not_taken_for_it() -> None:
    with pytest.raises(TimeoutError, match="its own"):
        answered(failing(TimeoutError("its own")), threading.Event(), "It")


def test_what_is_answered_within_the_grace_counts_after_a_stop_too() -> None:
    assert answered(lambda: threading.Event().wait(0.05), stopped(), "It") is False


@pytest.mark.usefixtures("short_grace")
def test_what_is_never_answered_ends_with_the_stop() -> None:
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    began_s = time.monotonic()
    with pytest.raises(AskedToStop, match="The commit was not answered"):
        answer_of(Future[None](), stop, "The commit")
    assert 0.3 < time.monotonic() - began_s < 3
