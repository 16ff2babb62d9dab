"""The thread that puts back settings tries again, and waits while another process erases."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest

from api.services import left_settings
from api.services.left_settings import LeftSettings
from relay.errors import BrokerUnreachable, ErasureRefused
from relay.state import ErasureTurn
from relay.zk import Session
from tests.support.waiting import wait_until


class Turn:
    """A turn with a note, which another process may hold."""

    node = "/roma/erasure/owner"

    def __init__(self) -> None:
        self.left = True
        self.held_by_another = False
        self.refused = threading.Event()
        self.signal: Callable[[], object] = str

    def is_left(self) -> bool:
        return self.left

    @contextmanager
    def held(self, _: str) -> Iterator[None]:
        if self.held_by_another:
            self.refused.set()
            raise ErasureRefused("bob erases now.")
        yield

    def watch(self, path: str, signal: Callable[[], object]) -> Any:
        assert path == self.node
        self.signal = signal
        return self

    def cancel(self) -> None:
        self.signal = str


def test_it_tries_again_until_kafka_answers_and_waits_for_the_end_of_another_erasure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(left_settings, "_AGAIN_SECONDS", 0.01)
    turn, attempts = Turn(), list[str]()
    answers, done = iter([BrokerUnreachable("away."), RuntimeError("a bug")]), threading.Event()

    def put_back() -> tuple[str, ...]:
        attempts.append("tried")
        error = next(answers, None)
        if error is not None:
            raise error
        turn.left = False
        done.set()
        return ("people",)

    monkeypatch.setattr("relay.threads._FIRST_PAUSE_SECONDS", 0.01)
    thread = LeftSettings(cast("Session", turn), cast("ErasureTurn", turn), put_back)
    thread.start()
    assert done.wait(20)
    assert attempts == ["tried"] * 3
    done.clear()
    turn.left = turn.held_by_another = True
    turn.signal()
    assert turn.refused.wait(20)
    turn.held_by_another = False
    turn.signal()  # the node of the other process went
    assert done.wait(20)
    thread.stop()
    wait_until(lambda: turn.signal is str, "the watch to be cancelled")
