"""Computes the logical view once after the start of the admin, so that the first request does not
wait for it.
"""

import threading
from collections.abc import Callable
from typing import Final

import structlog

from api.services.mappings.logical_view import LogicalViews
from relay.errors import RelayError, StoreUnreachable
from relay.threads import Guard, RelayThread
from relay.zk import Session

_POLL_SECONDS: Final = 0.2
_AGAIN_SECONDS: Final = 5.0
"""A failed attempt is repeated after this time."""
_STOP_SECONDS: Final = 5.0

_log = structlog.stdlib.get_logger(__name__)


class WarmUp:
    """A thread that ends when the view has been computed."""

    def __init__(
        self, session: Session, views: LogicalViews, on_end: Callable[[], None] = lambda: None
    ) -> None:
        """`on_end` is called in the thread after the view was computed."""
        self._session = session
        self._views = views
        self._on_end = on_end
        self._ended = threading.Event()
        self._thread = RelayThread("logical-view", "", self._run)

    def start(self) -> None:
        """Start the thread. Raises ResourcesExhausted if the system allows no further thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread; wait a few seconds for a running attempt."""
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        guard, pause_s = Guard("logical-view"), 0.0
        while not self._ended.wait(pause_s):
            pause_s = _POLL_SECONDS
            if self._session.connected:
                with guard:
                    if self._is_done():
                        self._on_end()
                        return
                pause_s = max(_AGAIN_SECONDS, guard.pause_s)

    def _is_done(self) -> bool:
        try:
            self._views.mapping()
        except StoreUnreachable:
            return False
        except RelayError as exc:  # a reader gets the same error
            _log.info("logical_view_not_read", code=exc.code, reason=exc.reason)
        return True
