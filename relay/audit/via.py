"""How an operator acts: by a page, by REST or by a command; for the entries of the audit trail."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

COMMAND_LINE: Final = "command line"
PAGE: Final = "page"
REST: Final = "REST"
RELAY: Final = "relay"
"""The relay acted itself."""

_via: Final = ContextVar("via", default=RELAY)


def current_via() -> str:
    """Return how the present act was requested."""
    return _via.get()


@contextmanager
def acting_via(via: str) -> Iterator[None]:
    """Context manager: entries that are made inside name this way.

    A task, and a thread that the web server uses for a request, inherit it. Other threads do not.
    """
    token = _via.set(via)
    try:
        yield
    finally:
        _via.reset(token)
