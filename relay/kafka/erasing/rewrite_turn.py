"""The right to rewrite topics, which one process has at a time."""

from typing import Protocol


class RewriteTurn(Protocol):
    """The caller's right to rewrite topics, as far as a rewrite uses it."""

    @property
    def transactional_id(self) -> str:
        """Return the transactional id of the producer. It is the same in each turn, so that Kafka
        fences older ones.
        """

    def check(self) -> None:
        """Raise ErasureInterrupted unless the turn has been held without interruption.

        Raises StoreUnreachable while that is not known.
        """

    def note(self, topic: str, segment_ms: str | None) -> None:
        """Store the topic's own `segment.ms` durably, before it is changed; None: it has none."""

    def restored(self, topic: str) -> None:
        """Delete the note of a topic's former setting, after it was restored."""
