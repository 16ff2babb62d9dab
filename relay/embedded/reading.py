"""Reads the source in one run after another: an error that a relay retries ends a run, and the next
one begins.
"""

import threading
from collections.abc import Generator
from time import monotonic
from typing import TypeAlias

import structlog

from relay.embedded.batch_reader import BatchReader, EmbeddedState
from relay.embedded.local_producer import Batch
from relay.embedded.settings import EmbeddedSettings
from relay.errors import NamesUnknown, RelayError
from relay.pipeline.supervision.recovery.decision import Circumstances, recovery
from relay.pipeline.supervision.recovery.outcomes import Backoff, RestartFrom, Retry

_log = structlog.stdlib.get_logger(__name__)
_STEP_SECONDS = 0.1

Batches: TypeAlias = Generator[Batch | None, None, None]
"""Yields batches, and None after each short wait without a batch."""


class SourceReading:
    """Reads the source, in one run after another. Used by the program's thread."""

    def __init__(
        self, settings: EmbeddedSettings, state: EmbeddedState, stop: threading.Event
    ) -> None:
        self._settings = settings
        self._instance = settings.instance
        self._state = state
        self._stop = stop
        self._backoff = Backoff()
        self._failing_since_s: float | None = None

    def batches(self) -> Batches:
        """Yield batches until the reading is stopped.

        Raises the errors that stop a relay, and the error of a source that is unreachable for too
        long.
        """
        while not self._stop.is_set():
            reader = BatchReader(self._instance, self._settings.mapping, self._state, self._stop)
            try:
                yield from reader.run()
            except RelayError as exc:
                if self._stop.is_set():
                    return
                if reader.started:
                    self._failing_since_s, self._backoff = None, self._backoff.running()
                yield from self._pause(self._decided(exc))

    def _decided(self, error: RelayError) -> Retry | RestartFrom:
        """Return what follows the error. Raises the error that is no reason to read again."""
        state, now_s = self._state, monotonic()
        refreshed = isinstance(error, NamesUnknown) and state.to_refresh.was_refreshed(error)
        known = Circumstances(self._instance.name, leads=True, refreshed=refreshed, now_s=now_s)
        decided = recovery(error, known, self._backoff)
        self._backoff = decided.backoff
        if isinstance(decided, RestartFrom):
            state.rolled_back.leave_out(decided.left_out)
            if decided.refresh is not None:
                state.to_refresh.add(decided.refresh)
            return decided
        if self._failing_since_s is None:
            self._failing_since_s = now_s
        failing_s = now_s - self._failing_since_s
        if isinstance(decided, Retry) and failing_s < self._settings.unreachable_seconds:
            return decided
        if decided.error is error:
            raise error
        raise decided.error from error

    def _pause(self, decided: Retry | RestartFrom) -> Batches:
        error = decided.error
        _log.warning("embedded_reader_restarted", instance=self._instance.name, reason=str(error))
        ends_s = monotonic() + decided.seconds
        while monotonic() < ends_s and not self._stop.wait(_STEP_SECONDS):
            yield None
