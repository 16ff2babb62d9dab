"""Memory and file descriptors of a process over time, and whether they grow."""

import threading
from dataclasses import dataclass
from statistics import median
from typing import Final

import psutil

_EVERY_S: Final = 2.0
_MEGABYTE: Final = 1_000_000
# An allocator's reserve and a connection more or less are no leak; one comes with every fault, and
# grows beyond.
_MEMORY_SLACK_BYTES: Final = 30 * _MEGABYTE
_FILES_SLACK: Final = 10


@dataclass(frozen=True, slots=True)
class Usage:
    """Memory and open files of a process.

    `early_…` are medians in the second quarter of the time, `late_…` medians in the last quarter.
    `most_…` are the maximums.
    """

    early_bytes: float
    late_bytes: float
    most_bytes: float
    early_files: float
    late_files: float
    most_files: float

    @property
    def flat(self) -> bool:
        """Return True if memory and descriptors grew by less than their tolerances."""
        return (
            self.late_bytes - self.early_bytes < _MEMORY_SLACK_BYTES
            and self.late_files - self.early_files < _FILES_SLACK
        )

    def __str__(self) -> str:
        memory = [
            f"{each / _MEGABYTE:.0f}"
            for each in (self.early_bytes, self.late_bytes, self.most_bytes)
        ]
        files = [f"{each:.0f}" for each in (self.early_files, self.late_files, self.most_files)]
        return (
            f"memory {memory[0]} MB in the second quarter of the run, {memory[1]} MB in the last, "
            f"{memory[2]} MB at most; "
            f"open files {files[0]}, {files[1]} and {files[2]} at the same times: "
            f"{'neither grows' if self.flat else 'GROWING'}"
        )


def usage_of(memory: list[float], files: list[float]) -> Usage:
    """Return the usage in samples in the order of time. The first quarter, in which the process
    warms up, is only used for the maximum.
    """
    quarter = max(1, len(memory) // 4)
    return Usage(
        median(memory[quarter : 2 * quarter] or memory),
        median(memory[-quarter:]),
        max(memory),
        median(files[quarter : 2 * quarter] or files),
        median(files[-quarter:]),
        max(files),
    )


class UsageSampler:
    """Context manager: samples a process every two seconds."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._memory: list[float] = []
        self._files: list[float] = []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="usage")

    def __enter__(self) -> "UsageSampler":
        self._sample()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join(10)

    def usage(self) -> Usage:
        """Return the usage of the samples so far."""
        return usage_of(list(self._memory), list(self._files))

    def _run(self) -> None:
        while not self._end.wait(_EVERY_S):
            self._sample()

    def _sample(self) -> None:
        self._memory.append(self._process.memory_info().rss)
        self._files.append(self._process.num_fds())
