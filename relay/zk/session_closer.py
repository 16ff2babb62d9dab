"""Ends the ZooKeeper session of a killed process, so that a standby does not wait for the session
timeout (ADR 44).
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Protocol, Self, TypeAlias

import structlog

_END_SECONDS: Final = 10.0
_CLOSED: Final = -1

_log = structlog.stdlib.get_logger(__name__)


class CloserProcess(Protocol):
    """The child process, with those methods of `Popen` that are called."""

    def wait(self, timeout: float | None = None, /) -> int:
        """Wait until the process ends. Raises TimeoutExpired."""
        ...

    def kill(self) -> None:
        """Kill the process immediately."""
        ...


StartCloser: TypeAlias = Callable[[Path, int], CloserProcess]
"""Starts the child process with a configuration file and a pipe as its input. Raises OSError."""


def _start_interpreter(config: Path, reads: int) -> CloserProcess:
    # The child gets its own process session, so that Ctrl-C and signals to the relay's process
    # group do not reach it.
    return subprocess.Popen(  # noqa: S603 - this interpreter, and a module of the relay
        [sys.executable, "-m", "relay.zk.close_session", str(config)],
        stdin=reads,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


class SessionCloser:
    """A child process that ends the session when its input ends without a final message.

    It has the session's id and password. The kernel closes the pipe exactly when this process dies.
    Without the child (it could not be started, or was killed too) ZooKeeper ends the session after
    its timeout.
    """

    def __init__(self, config: Path, start: "StartCloser | None" = None) -> None:
        """Start the child, which reads ZooKeeper's address from the configuration file.

        `start` starts it; None: in a new interpreter.
        """
        self._child: CloserProcess | None = None
        reads, self._writes = os.pipe()
        os.set_blocking(self._writes, False)
        try:
            self._child = (start or _start_interpreter)(config, reads)
        except OSError as exc:
            _log.warning("session_closer_not_started", reason=str(exc))
        finally:
            os.close(reads)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """End the child. The owner of the session must end the session."""
        self._tell(None)
        writes, self._writes = self._writes, _CLOSED
        os.close(writes)
        if self._child is None:
            return
        try:
            self._child.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    def note(self, session: int, password: bytes) -> None:
        """Pass the process's session to the child.

        Called for each new session, in any thread. Does not block.
        """
        self._tell({"session": session, "password": password.hex()})

    def _tell(self, what: dict[str, object] | None) -> None:
        if self._child is None:
            return
        try:
            os.write(self._writes, json.dumps(what).encode() + b"\n")
        except OSError as exc:
            _log.warning("session_closer_lost", reason=str(exc))
