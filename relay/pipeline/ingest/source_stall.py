"""Finds a source that sends nothing in the middle of a source transaction."""

from collections.abc import Mapping
from time import monotonic

from relay.errors import BatchAborted
from relay.pipeline.ingest.open_sources import OpenSource


class SourceStall:
    """Measures for how long a source has sent no data of its open transaction; used by the
    publishing thread.

    Received bytes of an event are data, also if the event is not complete. A source is not silent
    while the relay decodes its events. Heartbeats are not data, because the server sends them when
    it has no events. `limit_s` is the setting `transaction.source_stall_seconds`.
    """

    def __init__(self, sources: Mapping[str, OpenSource], limit_s: float) -> None:
        self._sources = sources
        self._limit_s = limit_s
        self._moved_at_s = monotonic()

    def restart(self) -> None:
        """Restart the measurement, because an item was taken, or because a rate limit
        allows no items now.
        """
        self._moved_at_s = monotonic()

    def check(self, following: str) -> None:
        """Raise BatchAborted if the source `following`, whose transaction is open, sent nothing for
        longer than the limit.
        """
        if monotonic() - self._moved_at_s <= self._limit_s:
            return
        silent_s = self._sources[following].stream.silent_seconds
        if silent_s > self._limit_s:
            raise BatchAborted(
                f"The source sent nothing for {silent_s:.1f} seconds in the middle of a "
                f"transaction."
            )
