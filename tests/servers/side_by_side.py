"""Two test processes side by side: which tests stay together, and how both reports about the servers become one."""

from pathlib import Path
from typing import Final, Protocol

import pytest

from tests.servers import availability

_REPORT: Final = "servers"
# A folder whose tests share something dear (a Spark session) stays in one process; elsewhere a file does, for its own fixtures' sake.
_FOLDERS_IN_ONE_PROCESS: Final = frozenset({"spark"})
_of_others: Final[set[str]] = set()


class FinishedWorker(Protocol):
    """What is used of a test process that ended: its last words."""

    workeroutput: dict[str, list[str]]


def group_of(file: Path) -> str:
    """Name the group of tests that one process runs one after the other."""
    return file.parent.name if file.parent.name in _FOLDERS_IN_ONE_PROCESS else "/".join(file.parts[-2:])


def mark_groups(items: list[pytest.Item]) -> None:
    """Give every test its group's mark; a run in one process does not look at it."""
    for item in items:
        item.add_marker(pytest.mark.xdist_group(group_of(item.path)))


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
