"""The frame of the admin's pages in a real browser."""

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, expect

from deploy.embedded import ZooKeeper
from tests.servers.fixtures import FreshName
from tests.support.browser import LOOKS, Scheme, assert_accessible, assert_fits, opened
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.waiting import wait_until


@pytest.fixture(scope="module")
def admin(zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[httpx.Client]:
    with admin_client(admin_settings(zookeeper.hosts, fresh_name("frame"))) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        yield client


@LOOKS
def test_the_empty_overview_is_accessible(
    admin: httpx.Client, browser: Browser, width: int, scheme: Scheme
) -> None:
    with opened(browser, str(admin.base_url), width=width, scheme=scheme) as page:
        page.goto("/")
        expect(page.get_by_role("heading", name="No instances yet")).to_be_visible()
        assert_accessible(page)
        assert_fits(page)


def test_keys_and_dialogs_work(admin: httpx.Client, browser: Browser) -> None:
    with opened(browser, str(admin.base_url)) as page:
        page.goto("/")
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_hidden()
        page.keyboard.press("/")
        expect(page.get_by_role("searchbox")).to_be_focused()


def test_the_scheme_that_a_reader_chose_is_kept(admin: httpx.Client, browser: Browser) -> None:
    with opened(browser, str(admin.base_url)) as page:
        page.goto("/")
        page.get_by_role("button", name="Switch between light and dark").click()
        page.reload()
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_without_script_the_shortcuts_open_by_their_address(
    admin: httpx.Client, browser: Browser
) -> None:
    with opened(browser, str(admin.base_url), script=False) as page:
        page.goto("/#keys")
        expect(page.get_by_role("heading", name="Keyboard shortcuts")).to_be_visible()
