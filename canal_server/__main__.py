"""`python -m canal_server --config FILE`."""

import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack

from canal_server.server import CanalServer
from relay.service import Say, run_service
from relay.settings import CanalServerSettings, RelaySettings
from relay.signals import stop_on_signals
from relay.telemetry import Answers, StatusServer
from relay.threads import THREADS


def main(argv: Sequence[str] | None = None) -> int:
    """Serve Canal's clients until a signal. Return 0 after a signal, 2 for an unusable
    configuration.
    """
    return run_service("roma canal-server", "A server that speaks Canal's protocol.", serve, argv)


def serve(settings: RelaySettings, say: Say) -> None:
    """Serve until SIGTERM or SIGINT, and print the address when the server accepts connections.

    say  prints addresses

    Raises ConfigurationError.
    """
    stop = threading.Event()
    stop_on_signals(stop)
    with ExitStack() as stack:
        server = CanalServer(settings)
        stack.callback(server.stop)
        if settings.canal_server is not None:
            _start_status(settings.canal_server, stack, say)
        server.start()
        host, port = server.address
        say("canal-server", f"{host}:{port}")
        stop.wait()


def _start_status(own: CanalServerSettings, stack: ExitStack, say: Say) -> None:
    if own.status_port is None:
        return
    answers = Answers(unhealthy=_unhealthy, unready=_unhealthy, statuses=lambda: ())
    status = StatusServer(own.status_host, own.status_port, answers)
    status.start()
    stack.callback(status.stop)
    say("status", status.url)


def _unhealthy() -> str | None:
    dead = THREADS.deaths
    return f"{'; '.join(dead)}." if dead else None


if __name__ == "__main__":
    sys.exit(main())
