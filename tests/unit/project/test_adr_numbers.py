"""Decisions are found by their numbers: each number once, and none left out."""

from pathlib import Path

_DECISIONS = Path(__file__).parents[3] / "docs" / "adr"


def test_each_decision_has_a_number_of_its_own() -> None:
    numbers = sorted(int(file.name[:4]) for file in _DECISIONS.glob("[0-9]*.md"))
    assert numbers == list(range(1, len(numbers) + 1))
