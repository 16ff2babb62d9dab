"""Records sign-ins in the log and in the audit trail, at a limited rate."""

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Final

import structlog

from relay.audit import AuditEntry, DelayedTrail
from relay.model.accounts import Identity

BURST: Final = 20
"""Number of refused sign-ins that are recorded without delay."""
REFILL_SECONDS: Final = 30.0
"""Seconds after which one more refused sign-in is recorded. Its entry has the number of omitted
ones.
"""

_log = structlog.stdlib.get_logger(__name__)


class AttemptNotes:
    """Records sign-ins and refused attempts in the audit trail."""

    def __init__(self, acts: DelayedTrail, clock: Callable[[], float] = monotonic) -> None:
        self._acts = acts
        self._clock = clock
        self._lock = Lock()
        self._left = float(BURST)
        self._refilled_s = clock()
        self._left_out = 0

    def opened(self, name: str, address: str, identity: Identity | None = None) -> None:
        """Record that a user signed in; `identity` is set for a sign-in by a provider."""
        after: dict[str, object] = {"address": address}
        if identity is not None:
            after |= {"issuer": identity.issuer, "subject": identity.subject}
        self._acts.note(AuditEntry(name, "session.opened", "", {}, after, ""))

    def closed(self, name: str, count: int = 1) -> None:
        """Record that a user signed out; `count` is the number of sessions that ended."""
        self._acts.note(AuditEntry(name, "session.closed", "", {"sessions": count}, {}, ""))

    def refused(self, user: str, address: str, code: str = "") -> None:
        """Record a refused sign-in: a wrong name or password, or another refusal with its error
        code.

        user  the existing user of that name; empty if the name is unknown. An unknown name may be a
              password that was typed into the wrong field, so it is not recorded
        code  error code of the refusal; empty for a wrong name or password
        """
        with self._lock:
            now = self._clock()
            self._left = min(float(BURST), self._left + (now - self._refilled_s) / REFILL_SECONDS)
            self._refilled_s = now
            if self._left < 1:
                self._left_out += 1
                return
            self._left, left_out, self._left_out = self._left - 1, self._left_out, 0
        _log.warning("login_refused", user=user, client=address, code=code, left_out=left_out)
        after = {"user": user, "address": address, "left_out": left_out}
        if code:
            after["code"] = code
        self._acts.note(AuditEntry("unknown", "session.refused", "", {}, after, ""))
