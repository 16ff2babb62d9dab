"""Stops a job gracefully: the job finishes its batch, records it in the checkpoint and ends.

A second signal stops the job immediately.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType
from typing import Final

from pyspark.sql.streaming import StreamingQuery

_POLL_S: Final = 0.1
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class BatchRefused(Exception):
    """Raised inside the query, so that no further batch starts. The batch is neither applied nor
    recorded as applied.
    """


class Shutdown:
    """A request to stop the job; it takes effect after the running batch."""

    def __init__(self) -> None:
        self._requested = Event()
        self._batch_runs = False
        self._refused = False

    @property
    def requested(self) -> bool:
        """Whether a stop was requested."""
        return self._requested.is_set()

    def request(self) -> None:
        """Request that the job stops."""
        self._requested.set()

    def listen(self) -> None:
        """Install signal handlers: SIGTERM and SIGINT then request that the job stops.

        Spark's start replaces the SIGINT handler, so call this again after it.
        """
        for number in _SIGNALS:
            signal.signal(number, self._on_signal)

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Context manager around a batch. Raises BatchRefused if a stop was requested before."""
        if self.requested:
            self._refused = True
            raise BatchRefused
        self._batch_runs = True
        try:
            yield
        finally:
            self._batch_runs = False

    def watch(self, query: StreamingQuery) -> None:
        """Wait until the query ends by itself or, after a request, until the running batch has
        ended.

        Raises the query's error.
        """
        pause = Event()
        while query.isActive:
            if self.requested and not self._batch_runs and not query.status["isTriggerActive"]:
                query.stop()
            pause.wait(_POLL_S)
        if not self._refused:
            query.awaitTermination()

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if self.requested:
            os._exit(128 + number)  # the JVM ends with its parent
        self._requested.set()
        os.write(2, b"ending after the batch that runs; a second signal ends at once\n")
