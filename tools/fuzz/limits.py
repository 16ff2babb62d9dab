"""What one input may take of the process that decodes it: seconds of the processor, and memory."""

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

CPU_SECONDS: Final = 2.0
"""A sound event of this size takes a thousandth of it."""
MEMORY_BYTES: Final = 128 << 20
"""What may come on top of the process with all its modules: zstd may ask for a window of 8 MiB,
caches hold some hundred tables.
"""


class TooSlow(Exception):
    """An input took more than its share of the processor."""


@contextmanager
def limited_memory() -> Iterator[None]:
    """Refuse the process more memory than it has now and MEMORY_BYTES."""
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
    """Let `restart` interrupt what runs for longer than CPU_SECONDS."""
    before = signal.signal(signal.SIGVTALRM, _raise)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def restart() -> None:
    """Count the time of the next input from here on."""
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)


def _raise(number: int, frame: FrameType | None) -> None:
    raise TooSlow(f"more than {CPU_SECONDS:g} s of the processor")
