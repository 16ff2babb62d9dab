"""Faults of the relay itself."""

import signal
from typing import Final

from tests.support.faults.fence import Stranger
from tests.support.relays.relay_process import RelayProcess
from tests.support.waiting import wait_until
from tools.faults.scenario import scenario
from tools.faults.stage import Run

_KILLS: Final = 5
_TAKEOVER_S: Final = 60.0


@scenario("relay-killed", "one relay is killed (kill -9) five times and started again at once")
def killed(run: Run) -> None:
    """Kill the relay and start it again, five times, each in another phase of a transaction."""
    for _ in range(_KILLS):
        relay = run.leader
        run.rest(0, 1)
        relay.kill()
        relay.start()
    run.moving()


@scenario("takeover-after-kill", "two relays: the leader is killed (kill -9)", relays=2)
def takeover_after_kill(run: Run) -> None:
    """Kill the leader, and measure the time without rows. The standby leads after the session
    timeout.
    """
    leader = run.leader
    run.rest(1, 2)
    run.watcher.measure_silence()
    leader.kill()
    run.moving()
    leader.start()


@scenario("takeover-after-stop", "two relays: the leader is stopped (SIGTERM)", relays=2)
def takeover_after_stop(run: Run) -> None:
    """Stop the leader, and measure the time without rows. The leader resigns, so the standby does
    not wait for the session timeout.
    """
    leader = run.leader
    run.rest(1, 2)
    run.watcher.measure_silence()
    leader.stop()
    run.moving()
    leader.start()


@scenario(
    "leader-paused",
    (
        "two relays: the leader is paused (SIGSTOP) for longer than its session, and continued "
        "when the other relay leads"
    ),
    relays=2,
)
def leader_paused(run: Run) -> None:
    """Pause the leader until the standby leads; then resume it. Kafka must fence its producer."""
    leader = run.leader
    other = next(each for each in run.relays if each is not leader)
    run.rest(0, 1)
    run.watcher.measure_silence()
    leader.signal(signal.SIGSTOP)
    try:
        _wait_for_lead(run, other)
        run.moving()
    finally:
        leader.signal(signal.SIGCONT)
    run.rest(4)
    run.notes.append(_disturbed(other))


@scenario(
    "successor-killed",
    (
        "two relays: the leader is paused (SIGSTOP) for longer than its session and continued "
        "when the other relay leads, which is then killed (kill -9) at once"
    ),
    relays=2,
)
def successor_killed(run: Run) -> None:
    """Pause the leader until the standby leads, resume it, and kill the new leader immediately. The
    former leader must be able to lead again.
    """
    for _ in range(3):
        leader = run.leader
        other = next(each for each in run.relays if each is not leader)
        run.rest(0, 1)
        leader.signal(signal.SIGSTOP)
        try:
            _wait_for_lead(run, other)
            run.rest(0, 0.3)
        finally:
            leader.signal(signal.SIGCONT)
        run.rest(0, 0.3)
        other.kill()
        run.moving()
        other.start()


@scenario(
    "relay-paused", "one relay is paused (SIGSTOP) for 5 to 8 s, which is longer than its session"
)
def paused(run: Run) -> None:
    """Pause the only relay until its ZooKeeper session has ended, then resume it."""
    relay = run.leader
    relay.signal(signal.SIGSTOP)
    run.rest(5, 8)
    relay.signal(signal.SIGCONT)
    run.moving()


@scenario(
    "stranger",
    "one relay: three times another program opens a producer with the relay's transactional.id",
)
def stranger(run: Run) -> None:
    """Open a producer with the relay's transactional.id three times; each fences the relay."""
    for _ in range(3):
        run.rest(0.5, 1.5)
        Stranger(run.kafka.bootstrap, f"{run.name}.shop", run.position_topic).close()
        run.moving()
    run.moving()


def _wait_for_lead(run: Run, relay: RelayProcess) -> None:
    wait_until(lambda: run.leader is relay, "the other relay leading", _TAKEOVER_S)


def _disturbed(relay: RelayProcess) -> str:
    """Return whether the former leader fenced the new one when it continued."""
    return "the new leader was fenced" if "FENCED" in relay.log.read_text(errors="replace") else ""
