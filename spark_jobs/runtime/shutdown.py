"""The polite end: the batch that runs is finished and noted in the checkpoint, then the job ends.

A second signal ends it at once.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType
from typing import Final

from pyspark.sql.streaming import StreamingQuery

_LOOK_S: Final = 0.1
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class BatchRefused(Exception):
    """Raised inside the query to keep a further batch from starting: it is neither applied nor
    noted as applied.
    """


class Ending:
    """A request to end, and whether a batch stands in its way."""

    def __init__(self) -> None:
        self._requested = Event()
        self._batch_runs = False
        self._refused = False

    @property
    def requested(self) -> bool:
        """Whether somebody asked the job to end."""
        return self._requested.is_set()

    def request(self) -> None:
        """Ask for the end."""
        self._requested.set()

    def listen(self) -> None:
        """Take SIGTERM and SIGINT for requests.

        Spark's start takes SIGINT away, so listen again after it.
        """
        for number in _SIGNALS:
            signal.signal(number, self._heard)

    @contextmanager
    def batch(self) -> Iterator[None]:
        """A batch runs inside; raises BatchRefused when the end was asked for before."""
        if self.requested:
            self._refused = True
            raise BatchRefused
        self._batch_runs = True
        try:
            yield
        finally:
            self._batch_runs = False

    def watch(self, query: StreamingQuery) -> None:
        """Return when the query ended by itself or, after a request, between two batches.

        Raises what ended it.
        """
        pause = Event()
        while query.isActive:
            if self.requested and not self._batch_runs and not query.status["isTriggerActive"]:
                query.stop()
            pause.wait(_LOOK_S)
        if not self._refused:
            query.awaitTermination()

    def _heard(self, number: int, _frame: FrameType | None) -> None:
        if self.requested:
            os._exit(128 + number)  # the JVM ends with its parent
        self._requested.set()
        os.write(2, b"ending after the batch that runs; a second signal ends at once\n")
