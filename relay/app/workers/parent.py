"""The parent of the worker processes: starts them, restarts those that end, and stops all.

It has one thread and no connection to ZooKeeper or Kafka. A fork at any later time then copies no
lock that another thread holds, and no connection.
"""

import asyncio
import gc
import os
import signal
import socket
from contextlib import suppress
from pathlib import Path
from time import monotonic

import structlog

from relay.app.workers.answers import PARENT, JointAnswers
from relay.app.workers.connection import WorkerConnection
from relay.app.workers.table import Worker
from relay.app.workers.worker import (
    END_SECONDS,
    REFUSED,
    SIGNALS,
    Work,
    become_worker,
    flush_output,
)
from relay.settings import RelaySettings, StatusSettings
from relay.telemetry import StatusLoop, set_up_logging
from relay.telemetry.metrics import WORKER_ENDS
from relay.threads import Guard

_log = structlog.stdlib.get_logger(__name__)


def run_workers(settings: RelaySettings, config: Path | None, processes: int) -> int:
    """Run a relay with `processes` worker processes until SIGTERM or SIGINT; return the exit code.

    The code is 0 if every worker ended in time without an error, 2 if every worker refused the
    configuration. `config` is as in `relay.app.process.run`. Raises ConfigurationError if the port
    of the status server is not available.
    """
    set_up_logging(settings.log, worker=PARENT)
    workers = [Worker(number) for number in range(1, processes + 1)]
    server = _status_server(settings.status, workers)
    loop = asyncio.new_event_loop()
    try:
        if server is not None:
            loop.run_until_complete(server.start())
            _log.info("status_server_started", url=server.url)
        address = "" if server is None else server.url
        program = f"{socket.gethostname()}-{os.getpid()}"
        work = Work(settings, config, address, program, processes)
        return _Parent(loop, workers, work).run()
    finally:
        if server is not None:
            server.close()
        loop.close()


def _status_server(settings: StatusSettings, workers: list[Worker]) -> StatusLoop | None:
    if settings.port is None:
        return None
    return StatusLoop(settings.host, settings.port, settings.hosts, JointAnswers(workers).answer)


class _Parent:
    """Runs the processes of all workers.

    The event loop runs only while there is nothing to do, and never during a fork.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, workers: list[Worker], work: Work) -> None:
        self._loop = loop
        self._workers = workers
        self._work = work
        self._changed = asyncio.Event()
        self._killed_at_s: float | None = None
        self._failed = False

    def run(self) -> int:
        """Start, restart and stop the workers; return the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self._ask_to_stop)
        self._loop.add_signal_handler(signal.SIGCHLD, self._changed.set)
        gc.collect()
        gc.freeze()
        guard = Guard("workers")
        while not self._is_over():
            with guard:
                self._start_due()
                self._loop.run_until_complete(self._wait())
                self._reap()
                self._kill_late()
            if guard.pause_s:
                self._loop.run_until_complete(asyncio.sleep(guard.pause_s))
        if self._killed_at_s is None:
            return REFUSED
        return 1 if self._failed else 0

    def _is_over(self) -> bool:
        if any(each.pid for each in self._workers):
            return False
        return self._killed_at_s is not None or all(
            each.exit_code == REFUSED for each in self._workers
        )

    def _ask_to_stop(self) -> None:
        """Ask all workers to end; called by the event loop at a signal."""
        if self._killed_at_s is None:
            self._killed_at_s = monotonic() + END_SECONDS
        self._changed.set()
        self._send(signal.SIGTERM)

    def _send(self, number: signal.Signals) -> None:
        for each in self._workers:
            if each.pid:
                os.kill(each.pid, number)

    def _start_due(self) -> None:
        for each in self._workers:
            is_due = not each.pid and monotonic() >= each.starts_at_s
            if is_due and self._killed_at_s is None:
                try:
                    self._start(each)
                except OSError as exc:
                    self._ended(each, f"could not be started ({exc})", None)

    def _start(self, worker: Worker) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                worker.pid = self._fork(worker.number, theirs)
            except OSError:
                ours.close()
                raise
        worker.connection = self._loop.run_until_complete(WorkerConnection.over(ours))
        _log.info("worker_started", worker=worker.number, pid=worker.pid)

    def _fork(self, number: int, connection: socket.socket) -> int:
        """Fork; return the id of the new process. Only the parent returns.

        Signals are blocked during the fork. Otherwise the new process could run the parent's
        handlers, which write to a pipe that both processes have.
        """
        flush_output()
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            pid = os.fork()
            if not pid:
                become_worker(number, connection, self._work)
            return pid
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    async def _wait(self) -> None:
        """Return after a signal, and when a worker is to be started or killed."""
        times_s = [each.starts_at_s for each in self._workers if not each.pid]
        if self._killed_at_s is not None:
            times_s = [self._killed_at_s]
        rest_s = max(0.0, min(times_s) - monotonic()) if times_s else None
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), rest_s)
        self._changed.clear()

    def _reap(self) -> None:
        """Record the end of every process that has ended.

        As the first process of a container, the parent also gets the orphaned children of workers.
        """
        with suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                for each in self._workers:
                    if each.pid == found[0]:
                        code = os.waitstatus_to_exitcode(found[1])
                        self._ended(each, _end(code), code)

    def _ended(self, worker: Worker, end: str, code: int | None) -> None:
        """Record the end of a worker, and plan its next start."""
        pid, worker.pid, worker.end, worker.exit_code = worker.pid, 0, end, code
        if worker.connection is not None:
            self._loop.run_until_complete(worker.connection.close())
            worker.connection = None
        if self._killed_at_s is not None:
            self._failed |= code != 0
            _log.info("worker_ended", worker=worker.number, pid=pid, reason=end)
            return
        WORKER_ENDS.labels(str(worker.number)).inc()
        pause_s = worker.restart_after_pause()
        _log.error("worker_ended", worker=worker.number, pid=pid, reason=end, restart_s=pause_s)

    def _kill_late(self) -> None:
        """Kill the workers that have not ended in time."""
        if self._killed_at_s is not None and monotonic() >= self._killed_at_s:
            self._failed = True
            self._killed_at_s = monotonic() + END_SECONDS
            self._send(signal.SIGKILL)


def _end(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
