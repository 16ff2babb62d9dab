"""The threads of a process. All are started by this module, which reports each thread that ends or
fails repeatedly.

An error that is not a RelayError is a bug, or the machine has no memory left. The module logs it
with its traceback and counts it. A thread that ends by such an error is listed as dead. A loop
under a `Guard` tries again after growing pauses.
"""

import threading
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, Literal

import structlog

from relay.errors import RelayError, ResourcesExhausted
from relay.growing_pause import GrowingPause

_FIRST_PAUSE_SECONDS: Final = 1.0
_LONGEST_PAUSE_SECONDS: Final = 30.0
_FORGOTTEN_AFTER_SECONDS: Final = 300.0
"""After this many seconds without an unexpected error, the pauses start again with the shortest."""

_log = structlog.stdlib.get_logger(__name__)


class ThreadBook:
    """The unexpected errors of this process's threads. Any thread may read and write it."""

    def __init__(self) -> None:
        self.unexpected: Counter[tuple[str, str]] = Counter()
        self._dead: dict[str, str] = {}
        self._lock = threading.Lock()

    def note(self, kind: str, error: BaseException) -> None:
        """Count an unexpected error; `kind` is the kind of thread."""
        with self._lock:
            self.unexpected[kind, type(error).__name__] += 1

    def died(self, name: str, error: BaseException) -> None:
        """Add a thread that ended by an error to the list."""
        with self._lock:
            self._dead[name] = f"{type(error).__name__}: {error}"

    def replaced(self, name: str) -> None:
        """Remove a thread from the list, because another one of its name runs."""
        with self._lock:
            self._dead.pop(name, None)

    @property
    def dead(self) -> dict[str, str]:
        """The threads that ended by an error and were not replaced, with the error."""
        with self._lock:
            return dict(self._dead)

    @property
    def deaths(self) -> list[str]:
        """One sentence without a full stop for each thread in `dead`."""
        return [f"thread {name} died ({error})" for name, error in self.dead.items()]


THREADS: Final = ThreadBook()


class RelayThread(threading.Thread):
    """A daemon thread.

    kind     its kind, which is a metric label
    subject  what it works for, such as an instance or a source; may be ""
    """

    def __init__(
        self, kind: str, subject: str, target: Callable[..., object], *arguments: Any
    ) -> None:
        super().__init__(name="-".join(filter(None, (kind, subject))), daemon=True)
        self._kind = kind
        self._call = target
        self._given = arguments

    def start(self) -> None:
        """Start it. Raises ResourcesExhausted if the machine starts no more threads."""
        try:
            super().start()
        except (RuntimeError, MemoryError) as exc:
            if self.ident is not None:  # it was started before, which is a bug
                raise
            raise ResourcesExhausted(f"Thread {self.name} cannot be started ({exc}).") from exc

    def run(self) -> None:
        """Make the call; its error is reported and ends the thread."""
        THREADS.replaced(self.name)
        try:
            self._call(*self._given)
        except BaseException as exc:
            log_unexpected(self._kind, self.name, exc)
            THREADS.died(self.name, exc)
            if not isinstance(exc, Exception):
                raise


def log_unexpected(kind: str, name: str, error: BaseException) -> None:
    """Log an unexpected error with its traceback, and count it."""
    THREADS.note(kind, error)
    _log.error("unexpected_error", thread=name, error=repr(error), exc_info=error)


class Guard:
    """Context manager for one step of a loop: it reports an unexpected error and stores it in
    `error`, so that the loop continues.

    It does not catch a RelayError, which is an expected error. `pause_s` is how long the loop
    should pause before its next step, in seconds; 0 after a successful step.
    """

    def __init__(self, kind: str, subject: str = "") -> None:
        self.error: Exception | None = None
        self.pause_s = 0.0
        self._kind = kind
        self._name = "-".join(filter(None, (kind, subject)))
        self._pause = GrowingPause(
            _FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS, _FORGOTTEN_AFTER_SECONDS
        )

    def __enter__(self) -> "Guard":
        self.error, self.pause_s = None, 0.0
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> Literal[False] | bool:
        if not isinstance(error, Exception) or isinstance(error, RelayError):
            return False
        self.error = error
        log_unexpected(self._kind, self._name, error)
        self.pause_s = self._pause.after_failure()
        return True


def forget_frames(error: BaseException | None) -> None:
    """Delete the references from an error and its causes to stack frames, so that objects in these
    frames are freed without garbage collection.
    """
    waiting, seen = [error], set[int]()
    while waiting:
        each = waiting.pop()
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            each.__traceback__ = None
            waiting += (each.__cause__, each.__context__)
