"""The pages for contributors lead to code that exists: each name in a column `find it by` occurs in
the repository.
"""

import re
from functools import cache
from itertools import takewhile
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[3]
_HOWTO = _ROOT / "docs" / "howto"
_PAGES = [*sorted(_HOWTO.glob("add-*.md")), _HOWTO / "find-the-code.md"]
_FOLDERS = ("relay", "api", "roma_client", "canal_server", "spark_jobs", "deploy", "tests", "tools")
_CODE = {".py", ".pyx", ".pxd"}


@cache
def _files() -> tuple[Path, ...]:
    return tuple(
        path
        for folder in _FOLDERS
        for path in (_ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )


@cache
def _code() -> str:
    texts = [
        path.read_text(encoding="utf-8")
        for path in _files()
        if path.suffix in _CODE and path != Path(__file__)
    ]
    return "\n".join([*texts, (_ROOT / "pyproject.toml").read_text(encoding="utf-8")])


def _names(page: Path) -> list[str]:
    """The names in the second column of the page's tables with the heading `find it by`.

    Words of other commands left out.
    """
    lines = iter(page.read_text(encoding="utf-8").splitlines())
    found = []
    for line in lines:
        if line.startswith("| place | find it by |"):
            for row in takewhile(lambda each: each.startswith("|"), lines):
                found += [
                    name
                    for name in re.findall(r"`([^`]+)`", row.split("|")[2])
                    if not name.startswith(("make ", "## "))
                ]
    return found


def _exists(name: str) -> bool:
    if re.search(rf"{re.escape(name)}(?!\w)", _code()) or (_ROOT / name).exists():
        return True
    module = name.replace(".", "/")
    relative = [path.relative_to(_ROOT) for path in _files()]
    return any(
        path.name == name
        or path.stem == name
        or str(path.with_suffix("")) == module
        or str(path.parent) == module
        for path in relative
    )


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.stem)
def test_what_a_page_tells_to_look_for_exists(page: Path) -> None:
    names = _names(page)
    assert len(names) >= 5
    assert [name for name in names if not _exists(name)] == []


def test_a_name_that_is_gone_is_noticed() -> None:
    assert not _exists("class NoSuch" + "ClassAnywhere")
    assert not _exists("relay.no_such_package")
