"""The browser that the tests of the pages share."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium here: `make fetch` as root on Debian brings it")
    # Not of the whole run: while Playwright runs, its event loop is that of the main thread.
    with sync_playwright() as playwright:
        # Chromium refuses its sandbox to root.
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()
