"""CPU time and memory of processes, from the kernel's counters."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import psutil

_KIB: Final = 1024


def cpu_seconds(*pids: int) -> float:
    """Return user and system seconds of the processes, of their running children, and of children
    that they have waited for; 0 for ended processes.
    """
    return sum(map(_family, pids))


def _family(pid: int) -> float:
    return sum(_own(process) for process in _tree(pid))


def _tree(pid: int) -> list[psutil.Process]:
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _own(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system + times.children_user + times.children_system)


def is_running(pid: int) -> bool:
    """Return False once the process has ended, before and after its status is collected."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class CpuMeter:
    """User and system seconds of processes and their children from now on, by name.

    A child that is itself named counts under its own name.

    The kernel drops the counters of an ended process that its parent does not wait for. Its time
    after the last `sample` is then missing.
    """

    def __init__(self, pids: Mapping[str, int]) -> None:
        self._pids = dict(pids)
        self._seen = {process: used for _, process, used in self._used()}
        self.seconds = dict.fromkeys(self._pids, 0.0)

    def sample(self) -> None:
        """Add the CPU time since the last call."""
        for name, process, used in self._used():
            self.seconds[name] += used - self._seen.get(process, 0.0)
            self._seen[process] = used

    def _used(self) -> Iterator[tuple[str, psutil.Process, float]]:
        trees = {name: _tree(pid) for name, pid in self._pids.items()}
        counted: set[psutil.Process] = set()
        for name, tree in sorted(trees.items(), key=lambda each: len(each[1])):
            for process in set(tree) - counted:
                counted.add(process)
                try:
                    times = process.cpu_times()
                except psutil.NoSuchProcess:
                    continue
                yield name, process, float(times.user + times.system)


def machine_seconds() -> float:
    """Return the CPU seconds of all programs since the machine started, and those that the host
    took from a virtual machine (steal time).
    """
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system + times.irq + times.softirq + times.steal)


def peak_bytes(*pids: int) -> int:
    """Return the sum of the peak resident memory (VmHWM) of the processes and their children.

    Pages that a child shares count once: a forked child that only waits adds little.
    """
    return sum(map(_family_peak, pids))


def _family_peak(pid: int) -> int:
    tree = _tree(pid)
    return sum(_high_water(each.pid) for each in tree) - sum(map(_shared, tree[1:]))


def _shared(process: psutil.Process) -> int:
    """Return the resident bytes that the process shares with others."""
    try:
        memory = process.memory_full_info()
    except psutil.NoSuchProcess:
        return 0
    return int(memory.rss - memory.uss)


def _high_water(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * _KIB for line in lines if line.startswith("VmHWM:")), 0)
