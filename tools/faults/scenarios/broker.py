"""Faults of a single broker."""

import signal
from typing import Final

from tests.support.waiting import wait_until
from tools.faults.scenario import scenario
from tools.faults.small_disk import SmallDiskKafka
from tools.faults.stage import Run

_NOTICED_S: Final = 60.0


@scenario("broker-killed", "the only broker is killed (kill -9) and started again after 5 s")
def killed(run: Run) -> None:
    """Kill the broker and start it again. The relay must continue without an operator."""
    _kill(run, 5)
    run.moving()


@scenario(
    "broker-killed-three-times",
    "the only broker is killed (kill -9) and started again three times, 1 to 4 s apart",
)
def killed_three_times(run: Run) -> None:
    """Kill the broker three times. The random pauses make each kill hit another phase of a
    transaction.
    """
    for _ in range(3):
        _kill(run, 2)
        run.rest(1, 4)
    run.moving()


@scenario("broker-paused", "the only broker is paused for 10 s")
def paused(run: Run) -> None:
    """Pause the broker until requests time out. It answers them when it is resumed."""
    run.rest(0, 1)
    broker = run.broker
    broker.pause()
    run.rest(10)
    broker.resume()
    run.moving()


@scenario(
    "transaction-timeout",
    (
        "the relay is paused during a transaction for longer than the transaction timeout "
        "(transaction.timeout_ms = 1000)"
    ),
    transaction={"timeout_ms": 1000},
)
def timeout(run: Run) -> None:
    """Pause the relay during a Kafka transaction until the broker aborts the transaction."""
    for _ in range(3):
        relay = run.leader
        run.rest(0, 0.3)
        relay.signal(signal.SIGSTOP)
        run.rest(2.5)
        relay.signal(signal.SIGCONT)
        run.moving()


@scenario(
    "broker-disk-full",
    (
        "one of the broker's two disks is full, so the broker cannot write the partitions on "
        "it; after 5 s space is freed and the broker is started again"
    ),
    brokers="small disk",
)
def disk_full(run: Run) -> None:
    """Fill the broker's disk until the broker fails. The relay must keep running, and must continue
    after the broker's restart.
    """
    run.rest(0, 1)
    broker = run.broker
    assert isinstance(broker, SmallDiskKafka)
    relay = run.leader
    broker.fill()
    wait_until(
        lambda: "No space left on device" in broker.log_file.read_text(errors="replace"),
        "the broker's failure",
        _NOTICED_S,
    )
    run.rest(5)
    assert not relay.ended
    broker.make_room()
    broker.stop()
    broker.start()
    run.moving()


@scenario(
    "broker-away-and-binlog-purged",
    (
        "the broker is killed, the source's binlog is purged during the outage, and the relay "
        'is killed before the broker is started again (spool = "mixed")'
    ),
    spool="mixed",
)
def purged(run: Run) -> None:
    """Kill the broker, and purge the binlog that the relay has spooled. The relay must publish it
    from the spool. Some runs also kill the relay.
    """
    run.rest(0, 1)
    broker, relay = run.broker, run.leader
    broker.kill()
    run.spooled()
    run.purge()
    if run.chance.random() < 0.5:
        relay.kill()
        run.rest(0, 2)
        relay.start()
        run.rest(0, 3)
    broker.start()
    run.moving()
    if run.chance.random() < 0.5:
        relay.kill()
        relay.start()
        run.moving()


def _kill(run: Run, away_s: float) -> None:
    run.rest(0, 1)
    broker = run.broker
    broker.kill()
    run.rest(away_s)
    broker.start()
    run.notes.append(
        f"the broker was away for {away_s:g} s and took {broker.start_seconds:.1f} s to start"
    )
