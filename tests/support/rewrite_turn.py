"""A replacement of the erasure turn in ZooKeeper, for rewrites of one topic."""

from collections.abc import Callable


class LoneTurn:
    """Keeps the notes in memory. `on_check` is called for each check and may raise."""

    def __init__(self, transactional_id: str, on_check: Callable[[], object] = str) -> None:
        self.transactional_id = transactional_id
        self.notes: dict[str, str | None] = {}
        self.on_check = on_check

    def check(self) -> None:
        """Call the function of the test."""
        self.on_check()

    def note(self, topic: str, segment_ms: str | None) -> None:
        """Keep the note."""
        self.notes[topic] = segment_ms

    def restored(self, topic: str) -> None:
        """Drop the note."""
        del self.notes[topic]
