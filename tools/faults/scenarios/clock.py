"""Faults of the relay's wall clock: it is set forward or back, while the servers' clocks are
right.
"""

import signal
from typing import Final

from deploy.embedded import ServerProcess
from tests.support.faults.stepped_clock import SteppedClock
from tools.faults.scenario import scenario
from tools.faults.stage import Run

_HOUR_S: Final = 3600


@scenario(
    "clock-back",
    "the relay's clock is set back by one to ten hours under load, then corrected",
    own_clock=True,
)
def back(run: Run) -> None:
    """Set the clock back, then correct it. Execute times must not decrease."""
    step_s = run.chance.randint(_HOUR_S, 10 * _HOUR_S)
    _step(run, -step_s)
    _step(run, step_s)


@scenario(
    "clock-back-in-group",
    "as clock-back, for a group whose other source is idle",
    pair=True,
    beside=True,
    own_clock=True,
)
def back_in_group(run: Run) -> None:
    """Set the clock back for a group. Its idle source must not delay the group's order key."""
    back(run)


@scenario(
    "clock-forward",
    "the relay's clock is set forward by up to 55 minutes under load, then corrected",
    own_clock=True,
)
def forward(run: Run) -> None:
    """Set the clock forward, then correct it. Later execute times must not be below those that were
    published while the clock was ahead.
    """
    step_s = run.chance.randint(60, 55 * 60)
    _step(run, step_s)
    _step(run, -step_s)


@scenario(
    "clock-forward-in-group",
    "as clock-forward, for a group whose other source is idle",
    pair=True,
    beside=True,
    own_clock=True,
)
def forward_in_group(run: Run) -> None:
    """Set the clock forward for a group. Its idle source must not delay the group's order key."""
    forward(run)


@scenario(
    "clock-too-far-forward",
    (
        "the relay's clock is set forward by five hours, so that brokers refuse its messages, "
        "and corrected after 5 s"
    ),
    own_clock=True,
)
def too_far(run: Run) -> None:
    """Set the clock so far forward that brokers refuse messages. The instance must wait with
    CLOCK_AHEAD, and continue when the clock is correct.
    """
    clock = _clock(run)
    run.rest(0, 1)
    clock.step(5 * _HOUR_S)
    run.leader.wait_for("WAITING", "CLOCK_AHEAD", 60)
    run.rest(5)
    clock.step(-5 * _HOUR_S)
    run.moving()


@scenario(
    "machine-resumed",
    (
        "relay, source, broker and ZooKeeper are paused for 40 s, then continued with the "
        "relay's clock ten minutes ahead"
    ),
    own_clock=True,
)
def resumed(run: Run) -> None:
    """Pause relay and servers until all sessions and Kafka transactions have timed out, then resume
    them.
    """
    run.rest(0, 1)
    relay = run.leader
    servers: tuple[ServerProcess, ...] = (run.database, run.broker, run.zookeeper)
    relay.signal(signal.SIGSTOP)
    for each in servers:
        each.pause()
    run.rest(40)
    _clock(run).step(600)
    for each in servers:
        each.resume()
    relay.signal(signal.SIGCONT)
    run.moving()


def _step(run: Run, seconds: int) -> None:
    run.rest(0, 1)
    _clock(run).step(seconds)
    run.rest(5)
    run.moving()


def _clock(run: Run) -> SteppedClock:
    assert run.clock is not None
    return run.clock
