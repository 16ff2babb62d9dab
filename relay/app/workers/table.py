"""Stores the parent's data about each worker."""

from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from relay.app.workers.connection import NoAnswer, WorkerConnection
from relay.growing_pause import GrowingPause

_FIRST_PAUSE_SECONDS: Final = 1.0
_LONGEST_PAUSE_SECONDS: Final = 30.0
_FORGOTTEN_AFTER_SECONDS: Final = 300.0
"""If a worker has run for this many seconds, the pause before its next start is the shortest one
again.
"""


def _pauses() -> GrowingPause:
    return GrowingPause(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS, _FORGOTTEN_AFTER_SECONDS)


@dataclass(slots=True)
class Worker:
    """One worker. When its process ends, another process replaces it.

    number       from 1 on; it stays the same in a new process
    pid          0: no process
    connection   None: no process
    starts_at_s  time to start a process, in seconds of the monotonic clock
    end          why the last process ended, as the end of a sentence
    exit_code    that of the last process, negative for a signal; None: none has ended
    is_silent    whether the last request had no answer
    """

    number: int
    pid: int = 0
    connection: WorkerConnection | None = None
    starts_at_s: float = 0.0
    end: str = "has not been started"
    exit_code: int | None = None
    is_silent: bool = False
    pauses: GrowingPause = field(default_factory=_pauses)

    async def ask(self, what: str, seconds: float) -> bytes:
        """Return the worker's answer to the request `what`. Raises NoAnswer if there is none in
        `seconds`.
        """
        if self.connection is None:
            rest_s = max(0.0, self.starts_at_s - monotonic())
            raise NoAnswer(f"{self.end}; it is started again in {rest_s:.0f} s")
        return await self.connection.ask(what, seconds)

    def restart_after_pause(self) -> float:
        """Set the time of the next start; return the pause before it in seconds."""
        pause_s = self.pauses.after_failure()
        self.starts_at_s = monotonic() + pause_s
        return pause_s
