"""Restores topic settings that an interrupted erasure has changed."""

import threading
from collections.abc import Callable
from typing import Final

import structlog

from relay.errors import ErasureRefused, RelayError
from relay.operations import put_back_settings
from relay.settings import RelaySettings
from relay.state import ErasureTurn
from relay.threads import Guard, RelayThread
from relay.zk import Session

_AGAIN_SECONDS: Final = 30.0
"""A failed attempt is repeated after this time, in seconds."""
_STOP_SECONDS: Final = 5.0
_ACTOR: Final = "admin"

_log = structlog.stdlib.get_logger(__name__)


class LeftSettings:
    """A thread that waits until no process holds the lock of erasures, and then restores topic
    settings that an interrupted erasure stored in ZooKeeper.
    """

    def __init__(
        self, session: Session, turn: ErasureTurn, put_back: Callable[[], tuple[str, ...]]
    ) -> None:
        self._session = session
        self._turn = turn
        self._put_back = put_back
        self._ended = threading.Event()
        self._signal = threading.Event()
        self._thread = RelayThread("erasure-settings", "", self._run)

    @classmethod
    def of(cls, settings: RelaySettings, session: Session, turn: ErasureTurn) -> "LeftSettings":
        """Return the thread, which is not started yet. `turn` is the lock of erasures."""
        return cls(session, turn, lambda: put_back_settings(settings, turn, _ACTOR))

    def start(self) -> None:
        """Start the thread. Raises ResourcesExhausted if the system allows no further thread."""
        self._signal.set()
        self._thread.start()

    def stop(self) -> None:
        """End the thread; wait a few seconds for a running attempt."""
        self._ended.set()
        self._signal.set()
        if self._thread.ident is not None:
            self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        guard, pause_s = Guard("erasure-settings"), 0.0
        watch = self._session.watch(self._turn.node, self._signal.set)
        while not self._ended.is_set():
            self._signal.wait(pause_s or None)
            self._signal.clear()
            done = self._ended.is_set()
            with guard:
                done = done or self._try()
            pause_s = 0.0 if done else max(_AGAIN_SECONDS, guard.pause_s)
        watch.cancel()

    def _try(self) -> bool:
        """Return False if another attempt is needed, which no change of the turn's node starts."""
        try:
            if self._turn.is_left():
                with self._turn.held(_ACTOR):
                    topics = self._put_back()
                if topics:
                    _log.warning("erasure_settings_put_back", topics=topics)
        except ErasureRefused:
            return True  # the turn of another process: its node signals the end
        except RelayError as error:
            _log.warning("erasure_settings_left", code=error.code, reason=error.reason)
            return False
        return True
