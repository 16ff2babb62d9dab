"""Starts the child process of `SessionCloser` by a fork, so that both processes share the memory of
the imported modules.
"""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Final, NoReturn

from relay.zk.close_session import main

_FIRST_OTHER_FD: Final = 3
_POLL_SECONDS: Final = 0.01


class ForkedCloser:
    """Forks the process. The caller must have only one thread. `run` is the function that the child
    process executes.
    """

    def __init__(self, config: Path, reads: int, run: Callable[[str], int] = main) -> None:
        """Start the process with the pipe as its input. Raises OSError."""
        self._pid = os.fork()
        if not self._pid:
            _become_closer(config, reads, run)

    def wait(self, timeout: float | None = None, /) -> int:
        """Wait for the end of the process and return its exit code. Raises TimeoutExpired."""
        end_s = None if timeout is None else monotonic() + timeout
        while not (found := os.waitpid(self._pid, os.WNOHANG))[0]:
            if end_s is not None and timeout is not None and monotonic() >= end_s:
                raise subprocess.TimeoutExpired("close_session", timeout)
            sleep(_POLL_SECONDS)
        return os.waitstatus_to_exitcode(found[1])

    def kill(self) -> None:
        """Kill the process immediately."""
        os.kill(self._pid, signal.SIGKILL)


def _become_closer(config: Path, reads: int, run: Callable[[str], int]) -> NoReturn:
    """Take the pipe as input, give up all other files, and run; the process ends here."""
    code = 1
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_WRONLY)
        for target, file in enumerate((reads, null, null)):
            os.dup2(file, target)
        os.closerange(_FIRST_OTHER_FD, os.sysconf("SC_OPEN_MAX"))
        code = run(str(config))
    finally:
        os._exit(code)
