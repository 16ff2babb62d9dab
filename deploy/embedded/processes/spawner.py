"""Starts child processes from one thread that lives as long as this process.

The kernel sends a child its parent-death signal when the *thread* that started the child ends. A
test may start a server in a thread that ends early, and the server must continue to run.
"""

import subprocess
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import IO, TypeAlias

_Request: TypeAlias = (
    "tuple[Future[subprocess.Popen[bytes]], Sequence[str], Path, Mapping[str, str], IO[bytes]]"
)


def spawn(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: IO[bytes]
) -> "subprocess.Popen[bytes]":
    """Start `command` in a new process group, with its output in `log` and no standard input."""
    started: Future[subprocess.Popen[bytes]] = Future()
    _requests().put((started, command, cwd, env, log))
    return started.result()


@cache
def _requests() -> "SimpleQueue[_Request]":
    requests: SimpleQueue[_Request] = SimpleQueue()
    threading.Thread(target=_serve, args=(requests,), name="embedded-spawner", daemon=True).start()
    return requests


def _serve(requests: "SimpleQueue[_Request]") -> None:
    while True:
        started, command, cwd, env, log = requests.get()
        try:
            child = subprocess.Popen(
                command,
                cwd=cwd,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                process_group=0,
            )
        except OSError as failure:
            started.set_exception(failure)
        else:
            started.set_result(child)
