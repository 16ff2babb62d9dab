"""Executes a program that the kernel kills when its parent ends: `python die_with_parent.py
PARENT_PID PROGRAM ARGUMENT...`.

Run as a script, because what must happen between fork and exec is not safe in a parent that has
threads.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main() -> None:
    """Ask the kernel for SIGKILL when the parent ends, then become the program."""
    parent, *command = sys.argv[1:]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    if os.getppid() != int(parent):  # it ended before the kernel was asked
        sys.exit(1)
    os.execvp(command[0], command)  # noqa: S606 - becoming the program is the point


if __name__ == "__main__":
    main()
