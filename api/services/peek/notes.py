"""Records in the audit trail which user read which table: once per table and session in an hour."""

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Final

from api.access import Caller
from api.access.cookies import id_of
from relay.audit import AuditEntry, DelayedTrail
from relay.model.accounts import Right
from relay.operations import PeekQuestion

REPEATED_SECONDS: Final = 3600.0
_MOST_REMEMBERED: Final = 10_000


class PeekNotes:
    """Writes audit entries. An entry never contains the requested key, which may identify a
    person.
    """

    def __init__(self, acts: DelayedTrail, clock: Callable[[], float] = monotonic) -> None:
        self._acts = acts
        self._clock = clock
        self._lock = Lock()
        self._noted: dict[tuple[object, ...], float] = {}

    def note(self, caller: Caller, question: PeekQuestion) -> None:
        """Record that a caller reads a table, unless that was recorded within the last hour."""
        values = Right.VALUES in caller.rights
        filtered = bool(question.key)
        session = "" if caller.session is None else id_of(caller.session.secret)
        if not self._is_new((caller.name, session, question.table, values, filtered)):
            return
        after = {"table": str(question.table), "values": values, "key_filter": filtered}
        self._acts.note(AuditEntry(caller.name or "anonymous", "table.peeked", "", {}, after, ""))

    def _is_new(self, looked: tuple[object, ...]) -> bool:
        with self._lock:
            now = self._clock()
            if now - self._noted.get(looked, float("-inf")) < REPEATED_SECONDS:
                return False
            if len(self._noted) >= _MOST_REMEMBERED:
                self._noted.clear()
            self._noted[looked] = now
            return True
