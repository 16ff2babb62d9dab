"""Sign-ins in the log and in the audit trail, at a bounded rate."""

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Final

import structlog

from relay.audit import AuditEntry, DelayedTrail

BURST: Final = 20
"""So many refused sign-ins are noted at once."""
REFILL_SECONDS: Final = 30.0
"""And one more each time this has passed. The next note has the number of those left out."""

_log = structlog.stdlib.get_logger(__name__)


class AttemptNotes:
    """Writes who signed in, and which attempts were refused."""

    def __init__(self, acts: DelayedTrail, clock: Callable[[], float] = monotonic) -> None:
        self._acts = acts
        self._clock = clock
        self._lock = Lock()
        self._left = float(BURST)
        self._refilled_s = clock()
        self._left_out = 0

    def opened(self, name: str, address: str) -> None:
        """Note that a user signed in."""
        self._acts.note(AuditEntry(name, "session.opened", "", {}, {"address": address}, ""))

    def closed(self, name: str, count: int = 1) -> None:
        """Note that a user signed out of so many sessions."""
        self._acts.note(AuditEntry(name, "session.closed", "", {"sessions": count}, {}, ""))

    def refused(self, user: str, address: str) -> None:
        """Note a wrong name or password.

        user  the user of that name; empty where there is none: what was sent as a name may be a
              password that somebody typed into the wrong field, so it is not written down
        """
        with self._lock:
            now = self._clock()
            self._left = min(float(BURST), self._left + (now - self._refilled_s) / REFILL_SECONDS)
            self._refilled_s = now
            if self._left < 1:
                self._left_out += 1
                return
            self._left, left_out, self._left_out = self._left - 1, self._left_out, 0
        _log.warning("login_refused", user=user, client=address, left_out=left_out)
        after = {"user": user, "address": address, "left_out": left_out}
        self._acts.note(AuditEntry("unknown", "session.refused", "", {}, after, ""))
