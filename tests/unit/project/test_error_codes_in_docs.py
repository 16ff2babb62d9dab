"""docs/troubleshooting describes every error and every state that an operator can meet, and the
tree is drawn as it is.
"""

import re
from pathlib import Path

import relay.errors
from relay.errors import RelayError
from relay.pipeline import InstanceState

_ROOT = Path(__file__).parents[3]
_PAGES = sorted((_ROOT / "docs" / "troubleshooting").glob("*.md"))


def _tree(branch: type[RelayError] = RelayError) -> set[type[RelayError]]:
    """Return the branch and all subclasses that the package relay.errors defines.

    Private errors of other packages are left out.
    """
    below = set().union(
        *(
            _tree(child)
            for child in branch.__subclasses__()
            if child.__module__.startswith("relay.errors.")
        )
    )
    return {branch, *below}


def _headings_of_codes() -> list[str]:
    return [
        code
        for page in _PAGES
        for code in re.findall(r"^## ([A-Z_]+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    ]


def test_every_code_is_described_once_and_none_is_invented() -> None:
    assert sorted(_headings_of_codes()) == sorted(error.code for error in _tree())


def test_every_state_is_described() -> None:
    index = (_ROOT / "docs" / "troubleshooting" / "index.md").read_text(encoding="utf-8")
    states = index.partition("\n## States\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `([A-Z_]+)` \|", states, re.MULTILINE)) == set(InstanceState)


def test_the_drawn_tree_is_the_tree() -> None:
    drawn = re.findall(
        r"^[│├└─ ]*([A-Z][A-Za-z]+)(?: {2,}.*|)$", relay.errors.__doc__ or "", re.MULTILINE
    )
    assert sorted(drawn) == sorted(error.__name__ for error in _tree())


def test_the_package_exports_the_whole_tree() -> None:
    assert sorted(relay.errors.__all__) == sorted(error.__name__ for error in _tree())
