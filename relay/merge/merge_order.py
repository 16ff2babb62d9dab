"""Which source's transaction comes next: that of the smallest (time, source), once no other source
can still bring a smaller one.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(slots=True)
class _Source:
    """`head_ms` is the time of the transaction that waits, None where none does, `last_ms` that of
    the newest one that came.

    `rests_ms` is the time up to which the source has said that it has nothing.
    """

    head_ms: int | None = None
    last_ms: int = 0
    rests_ms: int = 0

    @property
    def late(self) -> bool:
        """Whether what waits should not be there any more."""
        return self.head_ms is not None and self.head_ms < self.rests_ms


class MergeOrder:
    """Follows the heads and watermarks of the sources; times in Unix milliseconds.

    Each source is made non-decreasing by itself: a transaction dated before the one that it follows
    counts as of that one's time. `late` counts transactions from before a time at which their
    source had said to have nothing; they are taken at once. `first` is the source whose transaction
    goes before all others, because half of it is published; None as soon as it was taken.
    """

    def __init__(self, names: Iterable[str], first: str | None = None) -> None:
        self.late = 0
        self.first = first
        self._sources = {name: _Source() for name in sorted(names)}

    def came(self, name: str, time_ms: int) -> None:
        """A transaction of this source waits to be taken; it has one at a time."""
        source = self._sources[name]
        source.head_ms = source.last_ms = max(source.last_ms, time_ms)

    def rests(self, name: str, until_ms: int) -> None:
        """The source has nothing from before this time."""
        source = self._sources[name]
        source.rests_ms = max(source.rests_ms, until_ms)

    def next(self) -> str | None:
        """Return whose transaction is taken next.

        None while another source could bring an earlier one.
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
        """The transaction that waited is on its way."""
        source = self._sources[name]
        self.late += source.late
        source.head_ms, self.first = None, None


def _behind(name: str, source: _Source, head: tuple[int, str]) -> bool:
    """Whether all that this source may still bring has its place behind the head."""
    return source.head_ms is not None or (max(source.rests_ms, source.last_ms), name) > head
