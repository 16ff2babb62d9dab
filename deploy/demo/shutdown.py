"""Stops the demo: the first signal stops the programs in order, the second one kills them."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from deploy.embedded import ServerProcess
from deploy.embedded.fetching.progress import say


class Interrupted(BaseException):
    """The demo received a signal to end.

    Not an Exception, so that no handler of failures catches it.
    """


class Shutdown:
    """The programs that run, in the order of their start; a signal stops them."""

    def __init__(self) -> None:
        self._running: list[ServerProcess] = []
        self._asked = False

    @contextmanager
    def running(self, *programs: ServerProcess) -> Iterator[None]:
        """Context manager: stop the programs at the end of the block, the last one first."""
        self._running.extend(programs)
        try:
            yield
        finally:
            self._asked = True  # from here on a signal must not interrupt the stopping
            for program in reversed(programs):
                if program.running:
                    say(f"stopping {program.name}")
                program.close()

    def take_signals(self) -> None:
        """Handle SIGINT, SIGTERM and SIGHUP from now on."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        if not self._asked:
            self._asked = True
            raise Interrupted
        for program in reversed(self._running):
            program.end_at_once()
