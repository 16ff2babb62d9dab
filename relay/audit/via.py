"""How an operator act was requested, for its audit entry: by a page, by REST or by a command."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

COMMAND_LINE: Final = "command line"
PAGE: Final = "page"
REST: Final = "REST"
RELAY: Final = "relay"
"""The relay did the act itself."""

_via: Final = ContextVar("via", default=RELAY)


def current_via() -> str:
    """Return how the present act was requested."""
    return _via.get()


@contextmanager
def acting_via(via: str) -> Iterator[None]:
    """Context manager: audit entries that are created inside it get this value of `via`.

    Tasks and the web server's threads for a request inherit it. Other threads do not.
    """
    token = _via.set(via)
    try:
        yield
    finally:
        _via.reset(token)
