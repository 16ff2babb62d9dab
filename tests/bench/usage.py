"""What processes used, from the kernel's own counters."""

from pathlib import Path
from typing import Final

import psutil

_KIB: Final = 1024


def cpu_seconds(*pids: int) -> float:
    """User and system seconds of the processes, their children that live and those they have waited for; 0 for those that have ended."""
    return sum(map(_family, pids))


def _family(pid: int) -> float:
    try:
        root = psutil.Process(pid)
        tree = [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0.0
    return sum(_own(process) for process in tree)


def _own(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system + times.children_user + times.children_system)


def machine_seconds() -> float:
    """CPU seconds that all programs of the machine have used since it started, and those that its host took away."""
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system + times.irq + times.softirq + times.steal)


def peak_bytes(*pids: int) -> int:
    """The highest resident memory of the processes and their children so far (VmHWM), added up."""
    return sum(map(_family_peak, pids))


def _family_peak(pid: int) -> int:
    try:
        root = psutil.Process(pid)
        tree = [root.pid, *(child.pid for child in root.children(recursive=True))]
    except psutil.NoSuchProcess:
        return 0
    return sum(_high_water(each) for each in tree)


def _high_water(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * _KIB for line in lines if line.startswith("VmHWM:")), 0)
