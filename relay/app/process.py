"""`roma relay`: one relay in this process, or several in worker processes of it."""

import threading
from pathlib import Path

from relay.allocator import return_large_buffers
from relay.app.relay import HttpFront, relay_until
from relay.app.workers import number_of_processes, run_workers
from relay.settings import RelaySettings
from relay.signals import stop_on_signals
from relay.telemetry import set_up_logging
from relay.zk import SessionCloser


def run(settings: RelaySettings, config: Path | None = None) -> int:
    """Run the relay until SIGTERM or SIGINT; return the exit code of the process.

    `config` is the configuration file. If it is given, a child process ends the session in
    ZooKeeper when this process ends, even if it is killed. None: a session ends only after its
    timeout.
    """
    return_large_buffers()
    set_up_logging(settings.log)
    processes = number_of_processes(settings.placement.processes)
    if processes > 1:
        return run_workers(settings, config, processes)
    stop = threading.Event()
    stop_on_signals(stop)
    closer = None if config is None else SessionCloser(config)
    return relay_until(stop, settings, closer, HttpFront(settings.status))
