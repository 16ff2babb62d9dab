"""Chooses the recovery for each error of an instance."""

import threading
from time import monotonic

from relay.errors import Fenced, NamesUnknown, RelayError
from relay.ha import Election
from relay.pipeline.supervision.instance_context import InstanceContext, InstanceMemory
from relay.pipeline.supervision.recovery.decision import (
    Circumstances,
    after_unexpected,
    depends_on_leadership,
    recovery,
)
from relay.pipeline.supervision.recovery.leadership import confirmed, still_leads
from relay.pipeline.supervision.recovery.outcomes import Backoff, Recovery, Resign


class RecoveryChooser:
    """Chooses the recovery after each error.

    For the decision, it collects the circumstances of the error, counts errors, and stores the
    backoff.
    """

    def __init__(
        self,
        context: InstanceContext,
        memory: InstanceMemory,
        election: Election,
        stop: threading.Event,
    ) -> None:
        self._context = context
        self._memory = memory
        self._election = election
        self._stop = stop
        self._backoff = Backoff()

    def after(self, error: RelayError, open_seconds: float | None = None) -> Recovery:
        """Return the recovery for an error.

        `open_seconds` is how long the aborted batch was open; None: the error occurred outside of a
        run.
        """
        in_run = open_seconds is not None
        totals = self._context.stats.totals
        totals.errors[error.code] += 1
        totals.fences += isinstance(error, Fenced) and in_run
        known = Circumstances(
            self._context.instance.name,
            self._leads(error) if depends_on_leadership(error, in_run=in_run) else None,
            in_run,
            open_seconds or 0.0,
            self._context.instance.transaction.timeout_ms / 1000,
            isinstance(error, NamesUnknown) and self._memory.tables_to_refresh.was_refreshed(error),
            monotonic(),
        )
        decided = recovery(error, known, self._backoff)
        self._backoff = decided.backoff
        return decided

    def after_unexpected(self, error: Exception, pause_s: float) -> Resign:
        """Return the recovery for an exception that is not a RelayError, which is a bug. `pause_s`
        is in seconds.
        """
        return after_unexpected(error, pause_s, self._backoff)

    def running(self) -> None:
        """Reset the growing pause, because a run has begun to publish."""
        self._backoff = self._backoff.running()

    def _leads(self, error: RelayError) -> bool | None:
        if isinstance(error, Fenced):
            return confirmed(self._election)
        return still_leads(self._election, self._stop)
