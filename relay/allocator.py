"""Sets up the C library's memory allocator for a process that runs long and passes large buffers
between threads. The relay calls it at its start.
"""

import ctypes
from typing import Final

_M_MMAP_THRESHOLD: Final = -3
"""The parameter's number in glibc's <malloc.h>."""
_LARGE_BYTES: Final = 1 << 18


def return_large_buffers() -> None:
    """Make freed buffers of 256 KB and more go back to the operating system.

    By default, glibc raises this limit to the largest buffer that was ever freed (mallopt(3),
    M_MMAP_THRESHOLD). Blocks of a megabyte that were read or sent would then stay in the heap of
    each thread that freed one. Other C libraries are not changed.
    """
    try:
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
    except (AttributeError, OSError):
        return
