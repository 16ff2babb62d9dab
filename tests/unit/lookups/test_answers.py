"""Cached answers expire after a time, and their number is bounded."""

import pytest

from relay.lookups import KeptAnswers


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def kept(asked: list[int], clock: Clock) -> KeptAnswers[int, int]:
    def ask(question: int) -> int:
        asked.append(question)
        if question < 0:
            raise OSError("away")
        return question * 2

    return KeptAnswers(ask, 60, 2, clock)


def test_what_was_asked_lately_is_not_asked_again() -> None:
    asked: list[int] = []
    clock = Clock()
    answers = kept(asked, clock)
    assert [answers.answer(1), answers.answer(1)] == [2, 2]
    clock.now = 59.9
    answers.answer(1)
    clock.now = 60
    answers.answer(1)
    assert asked == [1, 1]


def test_the_question_that_was_not_asked_for_longest_is_forgotten() -> None:
    asked: list[int] = []
    answers = kept(asked, Clock())
    for question in (1, 2, 1, 3, 1, 2):
        answers.answer(question)
    assert asked == [1, 2, 3, 2]


def test_a_question_without_an_answer_is_asked_again() -> None:
    asked: list[int] = []
    answers = kept(asked, Clock())
    for _ in range(2):
        with pytest.raises(OSError, match="away"):
            answers.answer(-1)
    assert asked == [-1, -1]
