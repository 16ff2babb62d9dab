"""A server as a child process, which ends with its parent."""

import atexit
import os
import signal
import subprocess
import sys
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Final, Self

from deploy.embedded.errors import NotReady, ServerDied
from deploy.embedded.processes.ports import HOST, Port
from deploy.embedded.processes.run_folder import RunFolder
from deploy.embedded.processes.spawner import spawn

_LEASH: Final = Path(__file__).with_name("die_with_parent.py")
_POLL_S: Final = 0.05
_LOG_TAIL_LINES: Final = 40
_KEPT_VARIABLES: Final = ("HOME", "PATH", "TMPDIR", "USER")
_open: Final["weakref.WeakSet[ServerProcess]"] = weakref.WeakSet()


class ServerProcess(ABC):
    """One server on loopback; a context manager that starts it and removes its files.

    `stop`, `kill` and `start` keep ports and data, so a restarted server is the same server.
    `close` releases ports and data.
    """

    name: ClassVar[str]
    ready_within_s: ClassVar[float] = 90.0
    stop_within_s: ClassVar[float] = 30.0

    def __init__(self) -> None:
        self._folder = RunFolder(self.name)
        self._ports: list[Port] = []
        self._child: subprocess.Popen[bytes] | None = None
        self.start_seconds = 0.0  # how long the latest start took until the server answered
        _open.add(self)

    @classmethod
    @abstractmethod
    def fetch(cls) -> str:
        """Make sure this machine has the server's files; return its exact version.

        Raises Unavailable.
        """

    @abstractmethod
    def _prepare(self) -> None:
        """Prepare the folder for a start; called before every start."""

    @abstractmethod
    def _command(self) -> Sequence[str | Path]: ...

    @abstractmethod
    def _answers(self) -> bool:
        """Return whether the server is ready. Raises nothing if it is not."""

    @property
    @abstractmethod
    def address(self) -> str:
        """Return the address for clients, as host:port."""

    @property
    def folder(self) -> Path:
        """Return the folder of the server's data and log; `close` removes it."""
        return self._folder.path

    @property
    def log_file(self) -> Path:
        """Return the file with the output of all starts, the newest at its end."""
        return self.folder / "server.log"

    @property
    def pid(self) -> int:
        """The process id; RuntimeError when the server is not running."""
        if self._child is None:
            raise RuntimeError(f"{self.name} is not running")
        return self._child.pid

    @property
    def running(self) -> bool:
        """Return True while the process exists; a paused one exists too."""
        return self._child is not None and self._child.poll() is None

    @property
    def died(self) -> bool:
        """Whether the process ended by itself."""
        return self._child is not None and self._child.poll() is not None

    def start(self) -> Self:
        """Start the server and return when it answers.

        Raises ServerDied or NotReady with the end of its log.
        """
        if self.running:
            return self
        began = time.monotonic()
        self.fetch()
        self._prepare()
        with self.log_file.open("ab") as log:
            leash = [sys.executable, "-I", "-S", str(_LEASH), str(os.getpid())]
            command = [*leash, *map(str, self._command())]
            self._child = spawn(command, cwd=self.folder, env=self._environment(), log=log)
        try:
            self._wait_until_it_answers()
        except BaseException:
            self.kill()
            raise
        self.start_seconds = time.monotonic() - began
        return self

    def stop(self) -> None:
        """Send SIGTERM; after `stop_within_s` send SIGKILL."""
        if self._child is None:
            return
        if self._child.poll() is None:
            self._signal(signal.SIGCONT)  # a paused server does not handle SIGTERM
            self._signal(signal.SIGTERM)
            try:
                self._child.wait(self.stop_within_s)
            except subprocess.TimeoutExpired:
                self._signal(signal.SIGKILL)
        self._reap()

    def kill(self) -> None:
        """Kill the server (SIGKILL), as a crash does."""
        if self._child is not None:
            self._signal(signal.SIGKILL)
            self._reap()

    def end_at_once(self) -> None:
        """Send the server SIGKILL without waiting for its end; may be called from a signal
        handler.
        """
        self._signal(signal.SIGKILL)

    def restart(self) -> None:
        """Stop with SIGTERM and start again on the same ports and data."""
        self.stop()
        self.start()

    def pause(self) -> None:
        """Freeze the server; its connections stay open."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Continue a paused server."""
        self._signal(signal.SIGCONT)

    def close(self) -> None:
        """End the server and remove its data; may be called twice.

        The server is killed: a graceful stop takes seconds, and the data is removed anyway.
        """
        self.kill()
        self._folder.remove()
        while self._ports:
            self._ports.pop().release()
        _open.discard(self)

    def log_tail(self, lines: int = _LOG_TAIL_LINES) -> str:
        """Return the last lines of the server's log, an empty text when there is none."""
        if not self.log_file.exists():
            return ""
        return "\n".join(self.log_file.read_text(errors="replace").splitlines()[-lines:])

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _reserve_port(self) -> int:
        port = Port()
        self._ports.append(port)
        return port.number

    def _environment(self) -> Mapping[str, str]:
        """Return the environment without the user's language, time zone and Java options."""
        kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        return {"PATH": os.defpath, **kept, "LANG": "C.UTF-8", "TZ": "UTC"}

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + self.ready_within_s
        while not self._answers():
            if not self.running:
                code = self._child.returncode if self._child else None
                raise ServerDied(
                    f"{self.name} ended with code {code} before it was ready. Its log "
                    f"ends:\n{self.log_tail()}"
                )
            if time.monotonic() > deadline:
                raise NotReady(
                    f"{self.name} did not answer at {self.address} in {self.ready_within_s} s. "
                    f"Its log ends:\n{self.log_tail()}"
                )
            time.sleep(_POLL_S)

    def _signal(self, number: signal.Signals) -> None:
        if self.running:
            os.killpg(self.pid, number)

    def _reap(self) -> None:
        if self._child is not None:
            self._child.wait()
            self._child = None


@atexit.register
def _close_what_is_open() -> None:
    for server in list(_open):
        server.close()


__all__ = ["HOST", "ServerProcess"]
