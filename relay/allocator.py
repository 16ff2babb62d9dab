"""Sets up the C library's memory allocator for a process that runs long and passes large buffers
between threads. The relay calls it at its start.
"""

import ctypes
from typing import Final

_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
"""Numbers of the two parameters in glibc's <malloc.h>."""
_LARGE_BYTES: Final = 8 << 20
"""Larger than the buffers of the Kafka client, which it frees and allocates again for each request
(about `kafka.batch_bytes`).

With a limit of 256 KB, the kernel had to clear the pages of each of these buffers again: the relay
needed a tenth more CPU for a row.
"""


def return_large_buffers() -> None:
    """Make freed buffers of 8 MB and more go back to the operating system.

    By default, glibc raises the size from which it does so to the largest buffer that was ever
    freed (mallopt(3), M_MMAP_THRESHOLD). Buffers of large events would then stay in the heap of
    each thread that freed one. Free memory at the end of a heap is returned if it is more than
    twice that size (M_TRIM_THRESHOLD), which is also glibc's rule. Other C libraries are not
    changed.
    """
    try:
        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        library.mallopt(_M_TRIM_THRESHOLD, 2 * _LARGE_BYTES)
    except (AttributeError, OSError):
        return
