"""The one place that starts threads: what ends them is told, and loops go on with growing
pauses.
"""

import threading
from contextlib import suppress
from unittest.mock import patch

import pytest
from structlog.testing import capture_logs

from relay import growing_pause
from relay.errors import BrokerUnreachable, RelayError, ResourcesExhausted
from relay.telemetry.metrics import render
from relay.threads import THREADS, Guard, RelayThread, forget_frames


def fails(error: BaseException) -> None:
    raise error


def test_a_thread_that_dies_is_logged_counted_and_listed_until_another_one_of_its_name_runs() -> (
    None
):
    with capture_logs() as logs:
        thread = RelayThread("dies", "shop", fails, ZeroDivisionError("at last"))
        thread.start()
        thread.join(10)
    assert [(each["event"], each["thread"]) for each in logs] == [("unexpected_error", "dies-shop")]
    assert THREADS.dead["dies-shop"] == "ZeroDivisionError: at last"
    assert b'roma_unexpected_errors_total{error="ZeroDivisionError",thread="dies"} 1.0' in render()
    assert b"roma_dead_threads 1.0" in render()
    again = RelayThread("dies", "shop", lambda: None)
    again.start()
    again.join(10)
    assert "dies-shop" not in THREADS.dead


def test_a_thread_has_its_arguments_and_a_name_and_keeps_no_process_alive() -> None:
    seen: list[object] = []
    thread = RelayThread("adds", "", seen.append, 7)
    thread.start()
    thread.join(10)
    assert (seen, thread.name, thread.daemon) == ([7], "adds", True)


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), MemoryError()])
def test_a_machine_that_starts_no_threads_is_a_named_state(error: Exception) -> None:
    with (
        patch.object(threading.Thread, "start", side_effect=error),
        pytest.raises(ResourcesExhausted, match="cannot be started"),
    ):
        RelayThread("none", "", lambda: None).start()


def test_a_thread_that_is_started_twice_is_a_bug() -> None:
    thread = RelayThread("twice", "", lambda: None)
    thread.start()
    thread.join(10)
    with pytest.raises(RuntimeError):
        thread.start()


def test_a_guard_lets_known_errors_and_ends_of_the_process_pass() -> None:
    guard = Guard("loop")
    with pytest.raises(BrokerUnreachable), guard:
        raise BrokerUnreachable("away")
    with pytest.raises(SystemExit), guard:
        raise SystemExit(1)
    assert (guard.error, guard.pause_s) == (None, 0.0)


def test_pauses_grow_while_a_step_fails_and_begin_again_after_a_long_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [1000.0]
    monkeypatch.setattr(growing_pause, "monotonic", lambda: now[0])
    guard, pauses = Guard("loop", "shop"), []
    for _ in range(7):
        with guard:
            fails(ValueError("again"))
        pauses.append(guard.pause_s)
    assert pauses == [1, 2, 4, 8, 16, 30, 30]
    with guard:
        pass
    assert (guard.error, guard.pause_s) == (None, 0.0)
    with guard:
        fails(ValueError("soon"))
    assert guard.pause_s == 30
    now[0] += 301
    with guard:
        fails(ValueError("late"))
    assert guard.pause_s == 1
    assert THREADS.unexpected["loop", "ValueError"] == 9


def test_errors_that_name_one_another_in_a_circle_are_freed() -> None:
    outer, inner = RelayError("outer"), RelayError("inner")
    with suppress(RelayError):
        raise outer
    with suppress(RelayError):
        raise inner
    outer.__cause__, inner.__context__ = inner, outer
    forget_frames(outer)
    assert (outer.__traceback__, inner.__traceback__) == (None, None)
    outer.__cause__ = outer
    forget_frames(outer)
