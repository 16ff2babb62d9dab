"""The metrics that the parent of worker processes measures itself."""

from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.process_collector import ProcessCollector

from relay.telemetry.metrics import LOG_LINES_LOST, WORKER_ENDS, WORKER_UP, ThreadCounts

_OF_WORKERS: Final = CollectorRegistry()
_OF_PROCESS: Final = CollectorRegistry()

for _each in (WORKER_UP, WORKER_ENDS):
    _OF_WORKERS.register(_each)
ProcessCollector(registry=_OF_PROCESS)
_OF_PROCESS.register(ThreadCounts())
_OF_PROCESS.register(LOG_LINES_LOST)


def forget_workers() -> None:
    """Reset the counts of the parent. Call it in a worker after it was forked from the parent."""
    WORKER_UP.clear()
    WORKER_ENDS.clear()
    LOG_LINES_LOST.reset()


def render_parent() -> tuple[bytes, bytes]:
    """Return two texts: the parent's metrics about its workers, with the label `worker`, and the
    metrics of its own process, without this label.
    """
    return generate_latest(_OF_WORKERS), generate_latest(_OF_PROCESS)
