"""Which source's transaction comes next: that of the smallest (time, source), once no other source
can still bring a smaller one.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(slots=True)
class _Source:
    """The order of the sources' transactions: the smallest (time, source) is next, once no other
    source can send a smaller one.
    """

    head_ms: int | None = None
    last_ms: int = 0
    rests_ms: int = 0

    @property
    def late(self) -> bool:
        """Return whether the waiting transaction is older than the source's watermark."""
        return self.head_ms is not None and self.head_ms < self.rests_ms


class MergeOrder:
    """Follows the heads and watermarks of the sources; times in Unix milliseconds.

    The times of each source never decrease: a transaction dated before its predecessor gets the
    predecessor's time. `late` counts transactions older than their source's watermark; they are
    taken at once. `first` is the source whose transaction precedes all others, because a part of it
    is published; None once it was taken.
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
        """Record that the source has no transaction before this time."""
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
        """Record that the waiting transaction was passed on."""
        source = self._sources[name]
        self.late += source.late
        source.head_ms, self.first = None, None


def _behind(name: str, source: _Source, head: tuple[int, str]) -> bool:
    """Return whether everything that this source can still send sorts after the head."""
    return source.head_ms is not None or (max(source.rests_ms, source.last_ms), name) > head
