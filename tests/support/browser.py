"""Opens pages in a real browser, and asserts the properties that every page must have there."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Literal

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from tests.support.relays.admin_server import TOKEN

Scheme = Literal["light", "dark"]
SCHEMES: Final[tuple[Scheme, Scheme]] = ("light", "dark")
WIDE: Final = 1280
NARROW: Final = 390
LOOKS: Final = pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (WIDE, "light"),
        (NARROW, "dark"),
        pytest.param(WIDE, "dark", marks=pytest.mark.long),
        pytest.param(NARROW, "light", marks=pytest.mark.long),
    ],
)
"""Runs a test once in each width and in each scheme; with `make test-long` in all four looks."""
_HEIGHT: Final = 900
_PICTURES: Final = os.environ.get("ROMA_PAGE_PICTURES", "")
"""Folder for pictures of the pages such as those in docs/pictures/admin; empty: no pictures."""
_WAIT_MS: Final = 60_000
"""Timeout of an act or an expectation on a busy machine, in milliseconds."""
_SERIOUS: Final = frozenset({"serious", "critical"})

expect.set_options(timeout=_WAIT_MS)


@contextmanager
def opened(
    browser: Browser,
    url: str,
    *,
    width: int = WIDE,
    scheme: Scheme = "light",
    token: str = TOKEN,
    script: bool = True,
) -> Iterator[Page]:
    """Open an admin's page with a token. A script error or a blocked file fails the test."""
    context: BrowserContext = browser.new_context(
        base_url=url,
        viewport={"width": width, "height": _HEIGHT},
        color_scheme=scheme,
        java_script_enabled=script,
        extra_http_headers={"Authorization": f"Bearer {token}"} if token else {},
    )
    context.set_default_timeout(_WAIT_MS)
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: _note(problems, message))
    try:
        yield page
        assert not problems
    finally:
        context.close()


def assert_accessible(page: Page) -> None:
    """Assert that axe-core finds nothing serious on the page as it is shown now."""
    _assert_nothing_serious(_violations(page, {}))


def assert_contrast(page: Page) -> None:
    """Assert that every text has enough contrast, which is all that another colour scheme can
    change.
    """
    options = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
    _assert_nothing_serious(_violations(page, options))


def _violations(page: Page, options: Mapping[str, object]) -> list[Any]:
    """Run axe-core with these options. Each document gets the script once."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found: list[Any] = page.evaluate(
        "options => axe.run(options).then(found => found.violations)",
        {**options, "resultTypes": ["violations"]},
    )
    return found


def _assert_nothing_serious(found: list[Any]) -> None:
    serious = {
        each["id"]: [node["html"][:200] for node in each["nodes"][:3]]
        for each in found
        if each["impact"] in _SERIOUS
    }
    assert not serious


def resize(page: Page, width: int, scheme: Scheme) -> None:
    """Show the page in another width and colour scheme without loading it again."""
    page.set_viewport_size({"width": width, "height": _HEIGHT})
    page.emulate_media(color_scheme=scheme)


def assert_fits(page: Page) -> None:
    """Assert that nothing is wider than the window."""
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def keep_picture(page: Page, name: str) -> None:
    """Take a picture of the whole page if ROMA_PAGE_PICTURES names a folder."""
    if _PICTURES and page.viewport_size is not None:
        width = page.viewport_size["width"]
        page.screenshot(path=f"{_PICTURES}/{name}-{width}.png", full_page=True)


def _note(problems: list[str], message: ConsoleMessage) -> None:
    if message.type == "error" and "Content Security Policy" in message.text:
        problems.append(message.text)
