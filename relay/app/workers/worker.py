"""Runs a worker process from its fork to its end."""

import logging
import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

import structlog

from relay.app.relay import Part, relay_until
from relay.app.workers.link import ParentLink
from relay.errors import ConfigurationError, RelayError
from relay.settings import RelaySettings
from relay.signals import stop_on_signals
from relay.telemetry import set_up_logging
from relay.telemetry.worker_metrics import forget_workers
from relay.zk import ForkedCloser, SessionCloser

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)
"""The signals that the parent handles; they are blocked while it forks."""
REFUSED: Final = 2
"""Exit code for a configuration that cannot be used."""
END_SECONDS: Final = 35
"""Seconds that a worker may need to end, after a request to end or after the death of its parent.
Then it is killed.

systemd kills the whole service after 40 s.
"""
_FAILED: Final = 1
_FIRST_OTHER_FD: Final = 3
_MOST_FDS: Final = 1024

_log = structlog.stdlib.get_logger(__name__)


class Work(NamedTuple):
    """The parameters that all workers share.

    config   the configuration file
    address  URL of the parent's HTTP server
    program  name of the parent
    workers  number of workers
    """

    settings: RelaySettings
    config: Path | None
    address: str
    program: str
    workers: int


def become_worker(number: int, connection: socket.socket, work: Work) -> NoReturn:
    """Run as a worker until SIGTERM, SIGINT or the end of the parent. Call it after a fork.

    number      number of the worker
    connection  socket to the parent
    work        the shared parameters

    It ends the process and never returns, so that no code of the parent runs in the worker.
    """
    code = _FAILED
    try:
        _leave_parent(connection)
        set_up_logging(work.settings.log, worker=number)
        forget_workers()
        code = _relay(number, connection, work)
    except RelayError as exc:
        _log.error("worker_refused", code=exc.code, error=str(exc))
        code = REFUSED if isinstance(exc, ConfigurationError) else _FAILED
    except BaseException as exc:  # noqa: BLE001 - this error ends the process
        _log.error("worker_failed", error=repr(exc), exc_info=exc)
    finally:
        try:
            logging.shutdown()
            flush_output()
        finally:
            os._exit(code)  # the worker must never return into the parent's code


def _relay(number: int, connection: socket.socket, work: Work) -> int:
    closer = None if work.config is None else SessionCloser(work.config, ForkedCloser)
    stop = threading.Event()
    stop_on_signals(stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    link = ParentLink(connection, work.address, lambda: _end_soon(stop))
    link.start()
    part = Part(work.program, number, work.workers)
    return relay_until(stop, work.settings, closer, link, part)


def flush_output() -> None:
    """Flush standard output and standard error; discard the text if it cannot be written."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()


def _end_soon(stop: threading.Event) -> None:
    """End as after SIGTERM, because the parent has ended.

    No parent kills a worker that does not end. So the kernel kills it by SIGALRM, whatever its
    threads do; its child process then ends the session.
    """
    signal.alarm(END_SECONDS)
    _log.warning("parent_ended", killed_after_s=END_SECONDS)
    stop.set()


def _leave_parent(connection: socket.socket) -> None:
    """Give up the parent's signals and files.

    The sockets of other workers must not stay open here: their owners would not read the end of the
    parent. Numbers of files stay in use, because objects of the parent may still close them.
    """
    signal.set_wakeup_fd(-1)
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    kept = (connection.fileno(), null)
    for file in _open_files():
        if file not in kept:
            os.dup2(null, file, inheritable=False)


def _open_files() -> list[int]:
    """Return the numbers of the open files, without standard input, output and error."""
    try:
        found = [int(each) for each in os.listdir("/proc/self/fd")]
    except OSError:
        found = list(range(_MOST_FDS))
    return [each for each in found if each >= _FIRST_OTHER_FD and _is_open(each)]


def _is_open(file: int) -> bool:
    try:
        os.fstat(file)
    except OSError:
        return False
    return True
