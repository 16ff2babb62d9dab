"""Waits until the state of a server that an instance can read, or an operator's order, changes."""

import threading
from collections.abc import Iterable
from time import monotonic
from typing import Final, Protocol

_POLL_INTERVAL_SECONDS: Final = 0.1


class HasNews(Protocol):
    """A source whose servers or orders can change; SourceFailover implements it."""

    @property
    def has_news(self) -> bool:
        """Return whether a server or an operator's order changed since the last choice."""


def wait_for_news(sources: Iterable[HasNews], stop: threading.Event, seconds: float) -> bool:
    """Wait up to `seconds` seconds; return True if a source has news or `stop` is set, False
    otherwise.
    """
    sources, until_s = tuple(sources), monotonic() + seconds
    while (
        not (news := any(each.has_news for each in sources))
        and not stop.is_set()
        and (left_s := until_s - monotonic()) > 0
    ):
        stop.wait(min(_POLL_INTERVAL_SECONDS, left_s))
    return news or stop.is_set() or any(each.has_news for each in sources)
