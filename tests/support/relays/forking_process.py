"""The process that imports the relay once and forks relay processes: `python -m
tests.support.relays.forking_process FD`, with requests on that socket (`relay_forks` has the other
end).

It has one thread: a fork then copies no lock that another thread holds. When the other end of the
socket is closed, it kills the processes that it forked and ends.
"""

import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any, Final

from tests.support.relays.relay_forks import MESSAGE_BYTES

_FDS: Final = 2
_IMPORTED: Final = ("relay.cli", "relay.app", "relay.zk.close_session")
_FIRST_OTHER_FD: Final = 3
_POLL_S: Final = 0.01


class ForkedCloser:
    """The process that `SessionCloser` of the relay starts, here as a fork."""

    def __init__(self, command: list[str], *, stdin: int, **_: object) -> None:
        self.pid = os.fork()
        if self.pid:
            return
        code = 1
        try:
            os.setsid()
            null = os.open(os.devnull, os.O_WRONLY)
            _take_files(stdin, null, null)
            code = int(sys.modules["relay.zk.close_session"].main(command[-1]))
        finally:
            os._exit(code)

    def wait(self, seconds: float = 10) -> int:
        """Return the exit code; raises `TimeoutExpired`."""
        end = time.monotonic() + seconds
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired("close_session", seconds)
            time.sleep(_POLL_S)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


def _take_files(*files: int) -> None:
    """Use the files as standard input, output and error, and close all others."""
    for target, file in enumerate(files):
        os.dup2(file, target)
    os.closerange(_FIRST_OTHER_FD, os.sysconf("SC_OPEN_MAX"))


def serve(connection: socket.socket) -> dict[str, Any] | None:
    """Fork a process for each request: return the request in the new process, and None in this
    one at the end.
    """
    wakes, waking = os.pipe()
    os.set_blocking(wakes, False)
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    children: dict[int, int] = {}
    while True:
        readable, _, _ = select.select([connection.fileno(), wakes], [], [])
        if wakes in readable:
            os.read(wakes, MESSAGE_BYTES)
            _report_ended(children)
        if connection.fileno() in readable:
            text, files, _, _ = socket.recv_fds(connection, MESSAGE_BYTES, _FDS)
            if not text:
                for pid in children:
                    os.kill(pid, signal.SIGKILL)
                return None
            log, tells_end = files
            pid = os.fork()
            if not pid:
                _become(log)
                request: dict[str, Any] = json.loads(text)
                return request
            children[pid] = tells_end
            os.close(log)
            connection.send(str(pid).encode())


def _report_ended(children: dict[int, int]) -> None:
    """Write the exit code of each child that has ended to its pipe."""
    for pid, tells_end in list(children.items()):
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            os.write(tells_end, str(os.waitstatus_to_exitcode(status)).encode())
            os.close(tells_end)
            del children[pid]


def _become(log: int) -> None:
    """Reset the state that this process has from its parent, except its modules."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _take_files(os.open(os.devnull, os.O_RDONLY), log, log)


def _run(request: dict[str, Any]) -> None:
    """Run the module as `python -m` does."""
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    os.chdir(request["folder"])
    closer: Any = sys.modules["relay.zk.session_closer"]
    closer.subprocess = SimpleNamespace(
        Popen=ForkedCloser,
        DEVNULL=subprocess.DEVNULL,
        TimeoutExpired=subprocess.TimeoutExpired,
    )
    gc.unfreeze()
    sys.argv = ["", *request["arguments"]]
    runpy.run_module(request["module"], run_name="__main__", alter_sys=True)


def main(number: int) -> None:
    for name in _IMPORTED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    request = serve(socket.socket(fileno=number))
    if request is not None:
        _run(request)


if __name__ == "__main__":
    main(int(sys.argv[1]))
