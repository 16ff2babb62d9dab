"""Decides from which source of a group the next transaction is taken.

The next transaction is the one with the smallest (time, name of the source). It is taken as soon as
no other source can send a smaller one.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(slots=True)
class _Source:
    """The state of one source; times in Unix milliseconds.

    head_ms   time of its waiting transaction, None without one
    last_ms   time of its newest transaction
    rests_ms  watermark: it sends no more transactions from before this time
    """

    head_ms: int | None = None
    last_ms: int = 0
    rests_ms: int = 0

    @property
    def late(self) -> bool:
        """Return whether the waiting transaction is older than the source's watermark."""
        return self.head_ms is not None and self.head_ms < self.rests_ms


class MergeOrder:
    """Stores the waiting transactions and the watermarks of the sources; times in Unix
    milliseconds.

    The times of each source never decrease: a transaction dated before its predecessor gets the
    predecessor's time. `late` counts the transactions that were older than the watermark of their
    source; such transactions are taken at once. `first` is the source whose transaction precedes
    all others, because a part of this transaction is published; None after it was taken.
    """

    def __init__(self, names: Iterable[str], first: str | None = None) -> None:
        self.late = 0
        self.first = first
        self._sources = {name: _Source() for name in sorted(names)}

    def came(self, name: str, time_ms: int) -> None:
        """Record that a transaction of this source waits. A source has at most one waiting
        transaction.
        """
        source = self._sources[name]
        source.head_ms = source.last_ms = max(source.last_ms, time_ms)

    def rests(self, name: str, until_ms: int) -> None:
        """Record the source's watermark: it sends no more transactions from before `until_ms`."""
        source = self._sources[name]
        source.rests_ms = max(source.rests_ms, until_ms)

    def next(self) -> str | None:
        """Return the source whose transaction is taken next, None while another source can send an
        earlier one.
        """
        if self.first is not None:
            return self.first if self._sources[self.first].head_ms is not None else None
        if late := [name for name, source in self._sources.items() if source.late]:
            return late[0]
        heads = [
            (source.head_ms, name)
            for name, source in self._sources.items()
            if source.head_ms is not None
        ]
        if not heads:
            return None
        head = min(heads)
        return (
            head[1]
            if all(_behind(name, source, head) for name, source in self._sources.items())
            else None
        )

    def took(self, name: str) -> None:
        """Record that the waiting transaction of this source was taken."""
        source = self._sources[name]
        self.late += source.late
        source.head_ms, self.first = None, None


def _behind(name: str, source: _Source, head: tuple[int, str]) -> bool:
    """Return whether everything that this source can still send comes after `head`, a (time,
    source).
    """
    return source.head_ms is not None or (max(source.rests_ms, source.last_ms), name) > head
