"""Limits of one input: CPU seconds and memory."""

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

CPU_SECONDS: Final = 2.0
"""CPU seconds; an undamaged event of this size takes a thousandth."""
MEMORY_BYTES: Final = 128 << 20
"""Bytes beyond the memory of the process with all its modules: zstd may allocate a window of 8 MiB,
and caches hold some hundred tables.
"""


class TooSlow(Exception):
    """An input took more CPU seconds than allowed."""


@contextmanager
def limited_memory() -> Iterator[None]:
    """Limit the memory of the process to its present size and MEMORY_BYTES."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(
        resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY_BYTES, before[1])
    )
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@contextmanager
def limited_time() -> Iterator[None]:
    """Context manager: interrupt an input that runs for more than CPU_SECONDS after `restart`."""
    before = signal.signal(signal.SIGVTALRM, _raise)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def restart() -> None:
    """Begin to count the time of the next input."""
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)


def _raise(number: int, frame: FrameType | None) -> None:
    raise TooSlow(f"more than {CPU_SECONDS:g} s of the processor")
