"""Faults of a single broker."""

import signal

from deploy.embedded import Kafka
from tests.faults.scenario import scenario
from tests.faults.stage import Run


@scenario("broker-killed", "the only broker killed by kill -9, back after 5 s")
def killed(run: Run) -> None:
    _kill(run, 5)
    run.moving()


@scenario("broker-killed-three-times", "the same three times, with 1 to 4 s in between")
def killed_three_times(run: Run) -> None:
    for _ in range(3):
        _kill(run, 2)
        run.rest(1, 4)
    run.moving()


@scenario("broker-paused", "the only broker paused for 10 s")
def paused(run: Run) -> None:
    run.rest(0, 1)
    broker = _broker(run)
    broker.pause()
    run.rest(10)
    broker.resume()
    run.moving()


@scenario(
    "transaction-timeout",
    "the relay paused in mid-transaction for longer than the broker bears with it (transaction.timeout_ms = 1000)",
    transaction={"timeout_ms": 1000},
)
def timeout(run: Run) -> None:
    for _ in range(3):
        relay = run.leader
        run.rest(0, 0.3)
        relay.signal(signal.SIGSTOP)
        run.rest(2.5)
        relay.signal(signal.SIGCONT)
        run.moving()


def _kill(run: Run, away_s: float) -> None:
    run.rest(0, 1)
    broker = _broker(run)
    broker.kill()
    run.rest(away_s)
    broker.start()


def _broker(run: Run) -> Kafka:
    assert isinstance(run.kafka, Kafka)
    return run.kafka
