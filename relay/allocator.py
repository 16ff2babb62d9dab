"""The C library's allocator, set up for a process that lives long and moves large buffers between
threads.
"""

import ctypes
from typing import Final

_M_MMAP_THRESHOLD: Final = -3
"""glibc's <malloc.h>."""
_LARGE_BYTES: Final = 1 << 18


def return_large_buffers() -> None:
    """Let buffers of 256 KB and more go back to the system when they are freed.

    By itself glibc raises the limit to the largest buffer that was ever freed (mallopt(3),
    M_MMAP_THRESHOLD): then fetched and sent blocks of a megabyte stay in the heap of each thread
    that freed one. Other C libraries are left as they are.
    """
    try:
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
    except (AttributeError, OSError):
        return
