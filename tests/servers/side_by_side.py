"""Two test processes side by side, each with whole files: how both reports about the servers become one."""

from typing import Final, Protocol

from tests.servers import availability

_REPORT: Final = "servers"
_of_others: Final[set[str]] = set()


class FinishedWorker(Protocol):
    """What is used of a test process that ended: its last words."""

    workeroutput: dict[str, list[str]]


def pass_on_report(config: object) -> None:
    """In a test process of several: hand over what is known of the servers to the one that prints."""
    if hasattr(config, "workeroutput"):
        config.workeroutput[_REPORT] = availability.report()


def take_report(worker: FinishedWorker) -> None:
    """Keep what a test process that ended says of the servers; one that died says nothing."""
    _of_others.update(getattr(worker, "workeroutput", {}).get(_REPORT, []))


def report() -> list[str]:
    """Return a line for every server that any process asked for, those that are missing last."""
    return sorted(_of_others.union(availability.report()), key=lambda line: (line.startswith("WARNING"), line))
