"""Keeps the servers of this run, so that a failing test can print the log of a server that
ended.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final, TypeVar

from deploy.embedded import ServerProcess
from tests.servers.availability import require

Server = TypeVar("Server", bound=ServerProcess)
_running: Final[list[ServerProcess]] = []


@contextmanager
def running(server: Server) -> Iterator[Server]:
    """Context manager: start a server, watch it, and remove it completely afterwards."""
    _running.append(server)
    try:
        with server:
            yield server
    finally:
        _running.remove(server)


@contextmanager
def factory(kind: Callable[..., Server]) -> Iterator[Callable[..., Server]]:
    """Context manager: yield a function that creates and starts servers of one kind. All are
    stopped at the end of the block.
    """
    with ExitStack() as stack:

        def start(*arguments: Any, **settings: Any) -> Server:
            if isinstance(kind, type) and issubclass(kind, ServerProcess):
                require(kind)
            return stack.enter_context(running(kind(*arguments, **settings)))

        yield start


def logs_of_the_dead() -> list[tuple[str, str]]:
    """Return heading and log tail of every watched server whose process ended by itself."""
    return [
        (f"log of {server.name}, which died", server.log_tail())
        for server in _running
        if server.died
    ]
