"""Pauses between failures that come again."""

import pytest

from relay import growing_pause
from relay.growing_pause import GrowingPause


def test_pauses_double_up_to_the_longest_and_begin_again_after_a_quiet_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr(growing_pause, "monotonic", lambda: now)
    pause = GrowingPause(first_s=0.2, longest_s=1.0, forgotten_after_s=60)
    assert [pause.after_failure() for _ in range(4)] == [0.2, 0.4, 0.8, 1.0]
    now += 59.9
    assert pause.after_failure() == 1.0
    now += 60
    assert pause.after_failure() == 0.2
