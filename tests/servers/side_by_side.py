"""Test processes side by side, each with whole files: what goes to which, and how both reports
about the servers become one.
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
    """Whole files, but for those that share what is costly to set up.

    Those of Spark are two pieces, first copies and all others: what one JVM has compiled serves a
    whole piece. First copies wait for servers half of the time, the others compute. Those of the
    formats are one piece: they read the same topics, which a relay fills for a quarter of a minute.
    """

    def _split_scope(self, nodeid: str) -> str:
        return piece_of_work(nodeid)

    def remove_node(self, node: WorkerController) -> str | None:
        """Return the test that a killed process ran; the other processes take those behind it.

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
    """What one process does whole: the test's file, or all files of a folder."""
    folders = (each for each in (_FIRST_COPIES, _SPARK, _FORMATS) if nodeid.startswith(each))
    return next(folders, nodeid.split("::", 1)[0])


def largest_first(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Spark's files before all others, which can be shared out evenly behind pieces so large."""
    return sorted(items, key=lambda item: not item.nodeid.startswith(_SPARK))


class FinishedWorker(Protocol):
    """What is used of a test process that ended: its last words."""

    workeroutput: dict[str, list[str]]


def pass_on_report(config: object) -> None:
    """In a test process of several: hand over what is known of the servers to the one that
    prints.
    """
    if hasattr(config, "workeroutput"):
        config.workeroutput[_REPORT] = availability.report()


def take_report(worker: FinishedWorker) -> None:
    """Keep what a test process that ended says of the servers; one that died says nothing."""
    _of_others.update(getattr(worker, "workeroutput", {}).get(_REPORT, []))


def report() -> list[str]:
    """Return a line for every server that any process asked for, those that are missing last."""
    return sorted(
        _of_others.union(availability.report()), key=lambda line: (line.startswith("WARNING"), line)
    )
