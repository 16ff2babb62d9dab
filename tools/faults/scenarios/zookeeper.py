"""Faults of ZooKeeper: its outage does not stop the stream."""

from tools.faults.scenario import scenario
from tools.faults.stage import Run


@scenario(
    "zookeeper-away",
    "ZooKeeper is killed and started again after 10 s; the relay continues to publish",
    relays=2,
)
def away(run: Run) -> None:
    """Rows flow during the outage; the time without rows is measured."""
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
    """Two restarts in a short time: the session may survive the first one."""
    for _ in range(2):
        run.rest(0, 2)
        run.zookeeper.restart()
    run.moving()
