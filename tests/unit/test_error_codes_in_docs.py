"""docs/operations.md describes every error and every state that an operator can meet, and the tree is drawn as it is."""

import re
from pathlib import Path

import relay.errors
from relay.errors import RelayError
from relay.pipeline import InstanceState

_ROOT = Path(__file__).parents[2]
_OPERATIONS = (_ROOT / "docs" / "operations.md").read_text(encoding="utf-8")


def _tree(branch: type[RelayError] = RelayError) -> set[type[RelayError]]:
    """The branch and all below it that relay/errors.py defines; other rooms have private ones that never leave them."""
    below = set().union(*(_tree(child) for child in branch.__subclasses__() if child.__module__ == relay.errors.__name__))
    return {branch, *below}


def _first_cells(heading: str) -> list[str]:
    section = re.split(r"^## ", _OPERATIONS.partition(f"\n## {heading}\n")[2], flags=re.MULTILINE)[0]
    return re.findall(r"^\| `([A-Z_]+)` \|", section, re.MULTILINE)


def test_every_code_is_described_once_and_none_is_invented() -> None:
    assert sorted(_first_cells("Codes")) == sorted(error.code for error in _tree())


def test_every_state_is_described() -> None:
    assert set(_first_cells("States")) == set(InstanceState)


def test_the_drawn_tree_is_the_tree() -> None:
    drawn = re.findall(r"^[│├└─ ]*([A-Z][A-Za-z]+)(?: {2,}.*|)$", relay.errors.__doc__ or "", re.MULTILINE)
    assert sorted(drawn) == sorted(error.__name__ for error in _tree())
