"""An instance whose clock is refused tries again when that is set, and now and then."""

import pytest

from relay.pipeline.supervision.recovery import clock_pause as module
from relay.pipeline.supervision.recovery.clock_pause import pause_until_clock_is_set


@pytest.mark.parametrize(
    ("set_at", "set_by_s", "pauses"),
    [(3, -18_000.0, 3), (3, 7200.0, 3), (3, 0.2, 60), (0, 0.0, 60)],
)
def test_it_lasts_until_the_clock_is_set(
    monkeypatch: pytest.MonkeyPatch, set_at: int, set_by_s: float, pauses: int
) -> None:
    wall_s, running_s, seen = 2e9, 1000.0, 0

    def wait(seconds: float) -> bool:
        nonlocal wall_s, running_s, seen
        seen += 1
        running_s += seconds
        wall_s += seconds + (set_by_s if seen == set_at else 0)
        return False

    monkeypatch.setattr(module, "time", lambda: wall_s)
    monkeypatch.setattr(module, "monotonic", lambda: running_s)
    monkeypatch.setattr("relay.deadline.monotonic", lambda: running_s)
    pause_until_clock_is_set(wait)
    assert seen == pauses


def test_it_ends_when_it_is_told_to() -> None:
    pause_until_clock_is_set(lambda _: True)
