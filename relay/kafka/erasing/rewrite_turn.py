"""The exclusive right of one process to rewrite topics."""

from typing import Protocol


class RewriteTurn(Protocol):
    """The caller's exclusive right to rewrite topics: the methods that a rewrite calls."""

    @property
    def transactional_id(self) -> str:
        """Return the transactional id of the producer. All turns use the same one, so that Kafka
        fences producers of earlier turns.
        """

    def check(self) -> None:
        """Raise ErasureInterrupted if the turn was lost at any time.

        Raises StoreUnreachable while that is unknown.
        """

    def note(self, topic: str, segment_ms: str | None) -> None:
        """Store the topic's own `segment.ms` durably before it is changed. None: the topic has no
        own value.
        """

    def restored(self, topic: str) -> None:
        """Delete the stored `segment.ms` of a topic after it was restored."""
