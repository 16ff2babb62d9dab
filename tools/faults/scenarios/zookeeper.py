"""Faults of ZooKeeper. The relay must continue to publish during its outage."""

from tools.faults.scenario import scenario
from tools.faults.stage import Run


@scenario(
    "zookeeper-away",
    "ZooKeeper is killed and started again after 10 s; the relay continues to publish",
    relays=2,
)
def away(run: Run) -> None:
    """Kill ZooKeeper, and measure the time without rows during the outage."""
    run.rest(0, 1)
    run.watcher.measure_silence()
    run.zookeeper.kill()
    run.rest(10)
    run.zookeeper.start()
    run.moving()


@scenario(
    "zookeeper-restarted", "ZooKeeper is stopped by SIGTERM and started again, twice", relays=2
)
def restarted(run: Run) -> None:
    """Restart ZooKeeper twice in a short time. Sessions may survive the first restart."""
    for _ in range(2):
        run.rest(0, 2)
        run.zookeeper.restart()
    run.moving()
