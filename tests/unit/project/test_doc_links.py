"""Links between the project's own pages lead somewhere, and pages name only metrics that exist."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from relay.telemetry.metrics import REGISTRY

_ROOT = Path(__file__).parents[3]
_PAGES = sorted([*_ROOT.glob("*.md"), *(_ROOT / "docs").rglob("*.md")])


def _without_blocks(page: Path) -> str:
    return re.sub(
        r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )


def _prose(page: Path) -> str:
    """The page without its code, in which brackets are not links."""
    return re.sub(r"`[^`\n]*`", "", _without_blocks(page))


def _anchors(page: Path) -> set[str]:
    """The anchors of the page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", _without_blocks(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _relative_links(page: Path) -> Iterator[tuple[Path, str]]:
    for link in re.findall(r"\]\(([^)\s]+)\)", _prose(page)):
        if not re.match(r"[a-z]+:", link):
            path, _, anchor = unquote(link).partition("#")
            yield (page.parent / path if path else page), anchor


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: str(page.relative_to(_ROOT)))
def test_relative_links_lead_somewhere(page: Path) -> None:
    for target, anchor in _relative_links(page):
        assert target.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in _anchors(target), (
            f"{page.name} links to #{anchor} of {target.name}"
        )


def test_links_are_found_at_all() -> None:
    links = [target.name for target, _ in _relative_links(_ROOT / "README.md")]
    assert {"architecture.md", "delivery.md", "message-format.md"} <= set(links)


def test_files_that_pages_name_exist() -> None:
    paths = re.compile(r"`((?:tests|deploy|relay|docs|api|spark_jobs)/[\w./-]+\.\w+)`")
    named = {name for page in _PAGES for name in paths.findall(page.read_text(encoding="utf-8"))}
    assert not [name for name in named if not (_ROOT / name).exists()]


def test_metrics_that_pages_for_operators_name_exist() -> None:
    known = {
        sample for family in REGISTRY.collect() for sample in (family.name, f"{family.name}_total")
    }
    pages = [
        _ROOT / "docs" / "operations.md",
        *(page for page in _PAGES if page.parent.name in {"operations", "troubleshooting"}),
    ]
    named = {
        name
        for page in pages
        for name in re.findall(r"\broma_[a-z_]+", page.read_text(encoding="utf-8"))
    }
    assert "roma_spool_full" in named
    assert named <= known


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: str(page.relative_to(_ROOT)))
def test_every_test_that_a_page_names_exists(page: Path) -> None:
    for named in re.findall(r"`(tests/[^`\s]+)`", _without_blocks(page)):
        assert (_ROOT / named).exists(), named
