"""Faults of the network between relay and broker, while both run."""

from tests.support.faults.tcp_gate import TcpGate
from tools.faults.gated_kafka import GatedKafka
from tools.faults.scenario import scenario
from tools.faults.stage import Run


@scenario("kafka-cut", "the connection to the broker is cut for 5 s", brokers="behind a gate")
def cut(run: Run) -> None:
    """Reset and refuse connections for 5 s. The relay detects this fault immediately."""
    run.rest(0, 1)
    line = _line(run)
    line.shut()
    run.rest(5)
    line.reopen()
    run.moving()


@scenario(
    "kafka-black-hole",
    "the network drops all traffic to the broker for 8 s (transaction.timeout_ms = 3000)",
    brokers="behind a gate",
    transaction={"timeout_ms": 3000},
)
def black_hole(run: Run) -> None:
    """Forward no byte for 8 s. The relay detects this fault only by its timeouts."""
    run.rest(0, 1)
    line = _line(run)
    line.swallow()
    run.rest(8)
    line.reopen()
    run.moving()


@scenario(
    "kafka-black-hole-often",
    (
        "the network drops all traffic to the broker for 2 to 4 s, five times "
        "(transaction.timeout_ms = 3000)"
    ),
    brokers="behind a gate",
    transaction={"timeout_ms": 3000},
)
def black_hole_often(run: Run) -> None:
    """Forward no byte for a short time, five times, each in another phase of a transaction."""
    line = _line(run)
    for _ in range(5):
        run.rest(0.2, 1)
        line.swallow()
        run.rest(2, 4)
        line.reopen()
        run.moving()


def _line(run: Run) -> TcpGate:
    assert isinstance(run.kafka, GatedKafka)
    return run.kafka.line
