"""Answers that are kept for a while; the least recently used one is dropped first."""

from collections.abc import Callable
from typing import Generic, TypeVar

from relay.bounded_cache import BoundedCache

Question = TypeVar("Question")
Answer = TypeVar("Answer")


class KeptAnswers(Generic[Question, Answer]):
    """Asks again after `seconds`, and keeps the answers of the `most` questions asked last.

    `clock` counts seconds. One thread uses it.
    """

    def __init__(
        self,
        ask: Callable[[Question], Answer],
        seconds: float,
        most: int,
        clock: Callable[[], float],
    ) -> None:
        self._ask = ask
        self._seconds = seconds
        self._clock = clock
        self._kept: BoundedCache[Question, tuple[float, Answer]] = BoundedCache(most)

    def answer(self, question: Question) -> Answer:
        """Return the answer, cached or new; errors of the query are raised and not cached."""
        kept = self._kept.get(question)
        if kept is not None and self._clock() - kept[0] < self._seconds:
            return kept[1]
        answer = self._ask(question)
        self._kept.put(question, (self._clock(), answer))
        return answer
