"""Lag told from difference: the whole table of one round, and rounds until patience ends."""

from collections.abc import Mapping, Sequence

import pytest

from spark_jobs.comparison import Seen, TargetRow, compare_until_decided
from spark_jobs.comparison.verdict import verdicts


def seen(source: str | None = "v1", order: str | None = "5") -> Seen:
    return Seen("k", "p", ("n",), source, order)


@pytest.mark.parametrize(
    ("before", "now", "waiting", "published", "different"),
    [
        (seen(), seen(), {}, True, True),
        (seen(None), seen(None), {}, True, True),
        (seen(order=None), seen(order=None), {}, True, True),
        (seen(), seen(), {"k": "5"}, True, True),
        (seen(), seen(), {"k": "6"}, True, False),
        (seen(order=None), seen(order=None), {"k": "1"}, True, False),
        (seen(), seen("v2"), {}, True, False),
        (seen(), seen(order="6"), {}, True, False),
        (seen(), seen(), {}, False, False),
        (None, seen(), {}, True, False),
    ],
    ids=[
        "as before on both sides",
        "gone in the source",
        "missing in the copy",
        "the copy has its newest change",
        "a newer change is on its way",
        "its insert is on its way",
        "changed in the source",
        "changed in the copy",
        "the relay is behind",
        "seen for the first time",
    ],
)
def test_a_row_differs_only_if_nothing_is_on_its_way(
    before: Seen | None, now: Seen, waiting: Mapping[str, str], published: bool, different: bool
) -> None:
    judged = verdicts(
        {} if before is None else {"k": before}, {"k": now}, waiting, published=published
    )
    assert ("k" in judged.different, "k" in judged.open) == (different, not different)


def looks(*answers: Mapping[str, Seen]) -> "Looks":
    return Looks(list(answers))


class Looks:
    """Answers one look after the other, the last one for ever."""

    def __init__(self, answers: list[Mapping[str, Seen]]) -> None:
        self._answers = answers

    def __call__(self, _places: Sequence[TargetRow]) -> Mapping[str, Seen]:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


def test_a_row_that_arrives_is_equal() -> None:
    settled = compare_until_decided(
        [TargetRow("k", "p")],
        looks({"k": seen()}, {"k": seen()}, {}),
        lambda _: True,
        lambda _: {"k": "9"},
        60,
        lambda _: None,
    )
    assert (settled.different, settled.undecided) == ([], [])


def test_a_row_that_stays_differs() -> None:
    settled = compare_until_decided(
        [TargetRow("k", "p")],
        looks({"k": seen()}),
        lambda _: True,
        lambda _: {},
        60,
        lambda _: None,
    )
    assert ([each.key for each in settled.different], settled.undecided) == (["k"], [])


def test_patience_ends_undecided() -> None:
    settled = compare_until_decided(
        [TargetRow("k", "p")],
        looks({"k": seen()}),
        lambda _: False,
        lambda _: {},
        0,
        lambda _: None,
    )
    assert (settled.different, [each.key for each in settled.undecided]) == ([], ["k"])
