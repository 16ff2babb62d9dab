"""Writes audit entries of acts that do not need Kafka: to the log at once, and to Kafka when it is
available.
"""

import threading
from collections import deque
from time import monotonic
from typing import Final

import structlog

from relay.audit.entry import AuditEntry
from relay.audit.trail import AuditTrail
from relay.errors import RelayError
from relay.growing_pause import GrowingPause
from relay.threads import RelayThread

_MOST_WAITING: Final = 1000
_FIRST_PAUSE_SECONDS: Final = 1.0
_LONGEST_PAUSE_SECONDS: Final = 30.0
_CLOSING_PAUSE_SECONDS: Final = 0.05

_log = structlog.stdlib.get_logger(__name__)


class DelayedTrail:
    """Writes entries to Kafka in a separate thread, in their order.

    Entries that Kafka has not accepted when the process ends, and entries beyond 1000 waiting ones,
    are only in the log.
    """

    def __init__(self, trail: AuditTrail) -> None:
        self._trail = trail
        self._waiting: deque[AuditEntry] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closing = False

    def note(self, entry: AuditEntry) -> None:
        """Log an entry and queue it for Kafka. It returns at once, also if Kafka is unavailable."""
        _log.info("audit", **_fields(entry))
        with self._changed:
            if len(self._waiting) >= _MOST_WAITING:
                _log.error("audit_entry_not_in_kafka", **_fields(entry))
                return
            self._waiting.append(entry)
            self._changed.notify_all()
            if self._thread is None or not self._thread.is_alive():
                self._thread = RelayThread("audit", "", self._run)
                self._thread.start()

    def close(self, seconds: float) -> None:
        """Wait up to `seconds` until Kafka has accepted the waiting entries, then stop.

        Entries that Kafka has not accepted are logged.
        """
        until = monotonic() + seconds
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._waiting, max(0.0, until - monotonic()))
            left = list(self._waiting)
            self._waiting.clear()
        for entry in left:
            _log.error("audit_entry_not_in_kafka", **_fields(entry))

    def _run(self) -> None:
        pause = GrowingPause(
            _FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS, 2 * _LONGEST_PAUSE_SECONDS
        )
        while (entry := self._next()) is not None:
            try:
                self._trail.append(entry)
            except RelayError as error:
                seconds = pause.after_failure()
                _log.warning(
                    "audit_entry_delayed", code=error.code, reason=error.reason, seconds=seconds
                )
                self._rest(seconds)
                continue
            with self._changed:
                if self._waiting and self._waiting[0] is entry:
                    self._waiting.popleft()
                self._changed.notify_all()

    def _next(self) -> AuditEntry | None:
        """Return the entry to append, and wait for one; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing)
            return self._waiting[0] if self._waiting else None

    def _rest(self, seconds: float) -> None:
        """Pause before the next attempt; at the end of the process the pauses are short."""
        with self._changed:
            if self._changed.wait_for(lambda: self._closing, seconds):
                self._changed.wait_for(lambda: not self._waiting, _CLOSING_PAUSE_SECONDS)


def _fields(entry: AuditEntry) -> dict[str, object]:
    return {
        "actor": entry.actor,
        "act": entry.act,
        "subject": entry.subject,
        "before": dict(entry.before),
        "after": dict(entry.after),
        "comment": entry.comment,
        "via": entry.via,
    }
