"""Relay processes that are forked from one process, which imported the relay before.

The imports of a new interpreter take 1.5 s of CPU, and tests start hundreds of relays. A fork runs
the same module with the same arguments in a new process; of the code of the relay, only imports ran
before the fork.
"""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Final

MESSAGE_BYTES: Final = 1 << 17
"""The longest message between a test process and the process that forks."""
_READ_AT_START: Final = ("PYTHON", "LD_", "LC_", "LANG", "MALLOC_", "GLIBC_")
"""Beginnings of the names of variables that an interpreter or its libraries read when they
start.
"""
_PROGRAM: Final = "tests.support.relays.forking_process"
_END_SECONDS: Final = 10


class Forked:
    """A forked process, with those methods of `Popen` that tests call."""

    def __init__(self, pid: int, ended: int) -> None:
        """`ended` is the pipe from which the exit code comes."""
        self.pid = pid
        self.returncode: int | None = None
        self._ended = ended

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal, None while the process runs."""
        return self._read(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit code.

        Raises `TimeoutExpired` as `Popen` does.
        """
        code = self._read(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(f"relay {self.pid}", timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _read(self, seconds: float | None) -> int | None:
        if self.returncode is None and select.select([self._ended], [], [], seconds)[0]:
            text = os.read(self._ended, 100)
            os.close(self._ended)
            assert text, "the process that forks the relays has died"
            self.returncode = int(text)
        return self.returncode


def can_fork(environment: Mapping[str, str]) -> bool:
    """Whether a process with this environment may begin after the start of the interpreter."""
    changed = set(environment.items()) ^ set(os.environ.items())
    return not any(name.startswith(_READ_AT_START) for name, _ in changed)


def fork(
    module: str, arguments: Sequence[str], environment: Mapping[str, str], log: IO[bytes]
) -> Forked:
    """Start `python -m module arguments` by a fork; output and errors go to `log`."""
    return _forks().start(module, arguments, environment, log)


@cache
def _forks() -> "_Forks":
    return _Forks()


class _Forks:
    """The process that forks, and the connection to it; it ends with this process."""

    def __init__(self) -> None:
        self._connection, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._one_at_a_time = threading.Lock()
        with other:
            self._child = subprocess.Popen(
                [sys.executable, "-m", _PROGRAM, str(other.fileno())],
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                env={**os.environ, "PYTHONFAULTHANDLER": "1"},
            )
        atexit.register(self.end)

    def start(
        self, module: str, arguments: Sequence[str], environment: Mapping[str, str], log: IO[bytes]
    ) -> Forked:
        ended, tells_end = os.pipe()
        request = {
            "module": module,
            "arguments": list(arguments),
            "environment": dict(environment),
            "folder": str(Path.cwd()),
        }
        try:
            with self._one_at_a_time:
                told = [json.dumps(request).encode()]
                socket.send_fds(self._connection, told, [log.fileno(), tells_end])
                answer = self._connection.recv(MESSAGE_BYTES)
        finally:
            os.close(tells_end)
        assert answer, "the process that forks the relays has died"
        return Forked(int(answer), ended)

    def end(self) -> None:
        self._connection.close()
        with suppress(subprocess.TimeoutExpired):
            self._child.wait(_END_SECONDS)
