"""Maintains the copies of a job between batches: compacts them, and removes old deleted keys."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final, Protocol

_MS_PER_DAY: Final = 86_400_000


class Watermark(Protocol):
    """A durably stored execute time (ms), which never decreases. Keys that were deleted before it
    may be removed from the copies.
    """

    @property
    def before_ms(self) -> int:
        """Return the stored execute time in Unix milliseconds."""

    def raise_to(self, before_ms: int) -> None:
        """Raise the stored execute time to `before_ms`; a smaller value changes nothing."""


class MaintainedSink(Protocol):
    """The methods of a sink for maintenance between batches."""

    def forget_deletes(self, before_ms: int, writer: str, /) -> None:
        """Remove the keys of rows that were deleted before the execute time `before_ms` (Unix
        milliseconds).

        `writer` is the name of the job.
        """

    def tidy(self) -> None:
        """Compact the files of the copies, and remove files that no reader needs."""


class LastTime(Protocol):
    """The time of the last maintenance of the copies, stored durably because a job may restart more
    often.
    """

    def age_seconds(self) -> float:
        """Return the seconds since the last maintenance; 0 at the first call, which stores the
        present time.
        """

    def note(self) -> None:
        """Store the present time as the time of the last maintenance."""


class Upkeep:
    """Maintains the copies at intervals.

    minutes      interval in minutes; 0: after each batch; None: never
    guards_days  for how many days copies keep the keys of deleted rows; None: for ever
    """

    def __init__(
        self,
        sinks: Sequence[MaintainedSink],
        horizon: Watermark,
        *,
        minutes: float | None,
        guards_days: float | None,
        last: LastTime,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._sinks = sinks
        self._horizon = horizon
        self._minutes = minutes
        self._guards_days = guards_days
        self._clock = clock
        self._last = last
        self._last_s = clock() - (last.age_seconds() if minutes else 0.0)
        self._newest_ms = 0

    def after_batch(self, newest_change_ms: int, writer: str) -> bool:
        """Maintain the copies if the interval has passed since the last maintenance; return True if
        so.

        newest_change_ms  greatest execute time of the batch in Unix milliseconds
        writer            name of the job. If a job is killed during the maintenance, the lock of
                          the copies keeps this name, and the next job of this name gets it
        """
        self._newest_ms = max(self._newest_ms, newest_change_ms)
        if self._minutes is None or self._clock() - self._last_s < self._minutes * 60:
            return False
        self._forget(writer)
        for sink in self._sinks:
            sink.tidy()
        self._last_s = self._clock()
        if self._minutes:
            self._last.note()
        return True

    def _forget(self, writer: str) -> None:
        if self._guards_days is None:
            return
        self._horizon.raise_to(int(self._newest_ms - self._guards_days * _MS_PER_DAY))
        self._sinks[0].forget_deletes(self._horizon.before_ms, writer)
