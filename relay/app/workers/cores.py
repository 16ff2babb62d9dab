"""Computes the number of worker processes."""

import os
from collections.abc import Iterator
from contextlib import suppress
from math import ceil
from pathlib import Path
from typing import Final, Literal

from relay.settings import MOST_PROCESSES

_GROUPS_OF_PROCESS: Final = Path("/proc/self/cgroup")
_GROUPS: Final = Path("/sys/fs/cgroup")


def number_of_processes(setting: int | Literal["auto"]) -> int:
    """Return the number of worker processes for a setting; 1: the relay runs without worker
    processes.
    """
    return min(usable_cores(), MOST_PROCESSES) if setting == "auto" else setting


def usable_cores(of_process: Path = _GROUPS_OF_PROCESS, groups: Path = _GROUPS) -> int:
    """Return the number of cores that this process may use.

    Its CPU affinity and the quotas of its control groups (version 2) limit the number. The
    parameters are the files in which Linux shows the groups.
    """
    quotas = [ceil(each) for each in _quotas(of_process, groups)]
    return max(1, min([len(os.sched_getaffinity(0)), *quotas]))


def _quotas(of_process: Path, groups: Path) -> Iterator[float]:
    """Yield the cores that the process's control group and each one above it allow.

    A container sees its own group as the root.
    """
    path = ""
    with suppress(OSError):
        for line in of_process.read_text(encoding="utf-8").splitlines():
            path = line.removeprefix("0::/") if line.startswith("0::/") else path
    group = groups / path
    for each in (group, *group.parents):
        if not each.is_relative_to(groups):
            return
        with suppress(OSError, ValueError, ZeroDivisionError):
            quota, period = (each / "cpu.max").read_text(encoding="ascii").split()
            if quota != "max":
                yield int(quota) / int(period)
