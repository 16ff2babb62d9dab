"""A cache of query results that are valid for a limited time. It drops the least recently used one
first.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from relay.bounded_cache import BoundedCache

Question = TypeVar("Question")
Answer = TypeVar("Answer")


class KeptAnswers(Generic[Question, Answer]):
    """Caches results of `ask`: each for `seconds`, and only the `most` that were used last.

    `clock` returns seconds. Used by one thread.
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
        """Return the cached result, or the one of a new query. Errors of the query are raised and
        not cached.
        """
        kept = self._kept.get(question)
        if kept is not None and self._clock() - kept[0] < self._seconds:
            return kept[1]
        answer = self._ask(question)
        self._kept.put(question, (self._clock(), answer))
        return answer
