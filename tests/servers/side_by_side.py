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
_COPIES: Final = "first copies and streams of Spark"
_FORMATS: Final = "tests/e2e/formats/"
_PAGES: Final = "tests/e2e/pages/"
_WITHOUT_SERVERS: Final = "tests/integration/api/watch/test_pages_without_servers.py"
_PIECES: Final[Mapping[str, str]] = {
    f"{_SPARK}first_copies/": _COPIES,
    f"{_SPARK}stream/": _COPIES,
    _SPARK: _SPARK,
    _FORMATS: _FORMATS,
    _PAGES: _PAGES,
}
"""Folder → the piece of work that its files are part of. The first folder of a file counts."""
_PLACES: Final[Mapping[str, float]] = {
    _COPIES: -2,
    _PAGES: -1,
    _FORMATS: 0.1,
    _SPARK: 0.15,
    _WITHOUT_SERVERS: 0.5,
}
"""Large pieces of work, and where each begins: as a share of all pieces, negative before them. The
second Spark begins later than the first one, because two at once compute for minutes.
"""
_KINDS: Final = ("tests/e2e/", "tests/integration/api/", "tests/integration/", "")
"""Folders whose tests wait and compute alike: e2e waits for servers two thirds of its time, the
admin's tests for nine tenths, and unit tests compute.
"""
_REPORT: Final = "servers"
_of_others: Final[set[str]] = set()


class FewSparks(LoadFileScheduling):
    """Distributes whole files, and groups of files that share a costly setup.

    The Spark files are two pieces of work, each of several minutes, so that each piece uses one JVM
    and the code that it compiled. The files of the formats are one piece, because they read the
    same topics, which a relay fills in a quarter of a minute; those of the pages share a browser.
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
    pieces = (piece for folder, piece in _PIECES.items() if nodeid.startswith(folder))
    return next(pieces, nodeid.split("::", 1)[0])


def evenly_mixed(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Order the pieces of work: the largest first, then files that wait beside files that compute,
    so that both cores have work all the time.
    """
    pieces: dict[str, list[pytest.Item]] = {}
    for item in items:
        pieces.setdefault(piece_of_work(item.nodeid), []).append(item)
    kinds: dict[str, list[str]] = {}
    for piece in pieces.keys() - _PLACES.keys():
        kinds.setdefault(next(filter(piece.startswith, _KINDS)), []).append(piece)
    places = dict(_PLACES)
    for files in kinds.values():
        files.sort()
        places |= {file: (at + 0.5) / len(files) for at, file in enumerate(files)}
    ordered = sorted(pieces, key=lambda piece: (places[piece], piece))
    return [item for piece in ordered for item in pieces[piece]]


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
