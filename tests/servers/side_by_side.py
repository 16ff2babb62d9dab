"""Distributes whole test files over parallel test processes, and merges their reports about
servers.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final, Protocol

import pytest
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

from tests.servers import availability

_SPARK: Final = "tests/integration/spark/"
_FIRST_COPIES: Final = f"{_SPARK}first_copies/"
_FORMATS: Final = "tests/e2e/formats/"
_REPORT: Final = "servers"
_of_others: Final[set[str]] = set()


class FewSparks(LoadFileScheduling):
    """Distributes whole files, and groups of files that share a costly setup.

    The Spark files are two pieces of work, first copies and all others, so that each piece uses one
    JVM and the code that it compiled. First copies wait for servers half of the time; the others
    compute. The files of the formats are one piece, because they read the same topics, which a
    relay fills in a quarter of a minute.
    """

    def _split_scope(self, nodeid: str) -> str:
        return piece_of_work(nodeid)

    def remove_node(self, node: WorkerController) -> str | None:
        """Return the test that a killed process ran; the other processes run the tests after it.

        That test counts as done, because it failed: its next run would kill a process again.
        """
        pieces = self.assigned_work.pop(node)
        killer = next((name for tests in pieces.values() for name in _left(tests)), None)
        if killer is not None:
            pieces[piece_of_work(killer)][killer] = True
            self.workqueue.update({piece: each for piece, each in pieces.items() if _left(each)})
            for other in self.nodes:
                self._reschedule(other)
        return killer

    def _reschedule(self, node: WorkerController) -> None:
        """Give a process work, but not the replacement of a killed one that still collects tests.

        A process begins a test when it knows the next one, so a piece of one test is not enough.
        """
        if node in self.registered_collections:
            super()._reschedule(node)
            if self.workqueue and self._pending_of(self.assigned_work[node]) == 1:
                super()._reschedule(node)

    def _assign_work_unit(self, node: WorkerController) -> None:
        # A process that was killed between two tests: what it was given is taken back from it.
        with suppress(OSError):
            super()._assign_work_unit(node)


def _left(tests: Mapping[str, bool]) -> list[str]:
    """Return the tests of a piece that no process has finished."""
    return [name for name, is_done in tests.items() if not is_done]


def piece_of_work(nodeid: str) -> str:
    """Return the piece of work that one process runs: the test's file, or all files of a folder."""
    folders = (each for each in (_FIRST_COPIES, _SPARK, _FORMATS) if nodeid.startswith(each))
    return next(folders, nodeid.split("::", 1)[0])


def largest_first(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Order the Spark files before all others: the small pieces after them can be distributed
    evenly.
    """
    return sorted(items, key=lambda item: not item.nodeid.startswith(_SPARK))


class FinishedWorker(Protocol):
    """The interface of a test process that ended: the report that it sent."""

    workeroutput: dict[str, list[str]]


def pass_on_report(config: object) -> None:
    """In one of several test processes: send its report about servers to the printing process."""
    if hasattr(config, "workeroutput"):
        config.workeroutput[_REPORT] = availability.report()


def take_report(worker: FinishedWorker) -> None:
    """Keep the report about servers of a test process that ended; a killed one sent none."""
    _of_others.update(getattr(worker, "workeroutput", {}).get(_REPORT, []))


def report() -> list[str]:
    """Return a line for every server that any process requested. Missing servers come last."""
    return sorted(
        _of_others.union(availability.report()), key=lambda line: (line.startswith("WARNING"), line)
    )
