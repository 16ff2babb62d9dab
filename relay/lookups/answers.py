"""Answers that are kept for a while, the least recently used of them left behind first."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Question = TypeVar("Question")
Answer = TypeVar("Answer")


class KeptAnswers(Generic[Question, Answer]):
    """Asks anew what was asked more than `seconds` ago, or before `most` other questions.

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
        self._most = most
        self._clock = clock
        self._kept: OrderedDict[Question, tuple[float, Answer]] = OrderedDict()

    def answer(self, question: Question) -> Answer:
        """Return the answer; raises what asking raises, which is not kept."""
        kept = self._kept.get(question)
        if kept is not None and self._clock() - kept[0] < self._seconds:
            self._kept.move_to_end(question)
            return kept[1]
        answer = self._ask(question)
        self._kept[question] = (self._clock(), answer)
        self._kept.move_to_end(question)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return answer
