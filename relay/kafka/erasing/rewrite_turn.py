"""The right to rewrite topics, which one process has at a time."""

from typing import Protocol


class RewriteTurn(Protocol):
    """What a rewrite needs of the turn that its caller holds."""

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
        """Drop the note, because the setting is back."""
