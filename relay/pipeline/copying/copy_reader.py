"""Reads chunks of copied tables from the source in a thread, so that the publishing thread never
waits for a query.
"""

from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeAlias

import structlog

from relay.errors import RelayError, SnapshotRefused
from relay.settings import SourceSettings
from relay.source import ChunkConnection
from relay.threads import THREADS, RelayThread

_JOIN_SECONDS = 10.0
Question: TypeAlias = Callable[[ChunkConnection], object]

_log = structlog.stdlib.get_logger(__name__)


class CopyReader:
    """Runs one query after another in a thread with its own connection.

    The thread starts with the first query. `stop` ends it, even while it waits for the source
    server's answer.
    """

    def __init__(self, instance: str, source: SourceSettings) -> None:
        self._instance = instance
        self._connection = ChunkConnection(source)
        self._questions: SimpleQueue[Question | None] = SimpleQueue()
        self._answers: SimpleQueue[tuple[object]] = SimpleQueue()
        self._thread: RelayThread | None = None
        self._open = 0

    @property
    def waiting(self) -> bool:
        """Return whether a query was not answered yet."""
        return self._open > 0

    def ask(self, question: Question) -> None:
        """Run `question` in the thread; `answer` returns its result later."""
        if self._thread is None:
            self._thread = RelayThread("copy", self._instance, self._run)
            self._thread.start()
        self._open += 1
        self._questions.put(question)

    def answer(self) -> tuple[object] | None:
        """Return the next result in a tuple of one; None if there is no result yet.

        A query that failed has its RelayError as its result.
        """
        try:
            found = self._answers.get_nowait()
        except Empty:
            return None
        self._open -= 1
        return found

    def stop(self) -> None:
        """Ask the thread to end, without waiting for it. The result of a running query is lost."""
        if self._thread is not None:
            self._questions.put(None)
            self._connection.cut()

    @property
    def ended(self) -> bool:
        """Return whether the thread has ended or never started."""
        return self._thread is None or not self._thread.is_alive()

    def join(self) -> None:
        """Wait up to 10 seconds until the thread has ended. Call `stop` first."""
        if self._thread is not None:
            self._thread.join(_JOIN_SECONDS)

    def _run(self) -> None:
        while (question := self._questions.get()) is not None:
            self._answers.put((self._asked(question),))
        self._connection.close()

    def _asked(self, question: Question) -> object:
        try:
            return question(self._connection)
        except RelayError as exc:
            self._connection.close()
            return exc
        except Exception as exc:  # noqa: BLE001 - a bug here ends the request, not the stream
            _log.exception("unexpected_error", thread="copy", instance=self._instance)
            THREADS.note("copy", exc)
            self._connection.close()
            return SnapshotRefused(
                f"Reading the table failed: {type(exc).__name__}: {exc}.",
                remedy="This is a bug of the relay; its log has the details.",
            )
