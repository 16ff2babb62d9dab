"""The audit trail and dead letters in a real browser."""

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, expect

from deploy.embedded import Kafka, ZooKeeper
from tests.servers.fixtures import FreshName
from tests.support.browser import (
    NARROW,
    WIDE,
    Scheme,
    assert_accessible,
    assert_fits,
    keep_picture,
    opened,
)
from tests.support.relays.kept_back import LETTER, admin_with_letters

KEY = '["shop.client","7"]'


@pytest.fixture(scope="module")
def admin(kafka: Kafka, zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[httpx.Client]:
    with admin_with_letters(zookeeper.hosts, kafka.bootstrap, fresh_name("record")) as client:
        yield client


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_the_replay_of_a_dead_letter_is_accessible(
    admin: httpx.Client, browser: Browser, width: int, scheme: Scheme
) -> None:
    with opened(browser, str(admin.base_url), width=width, scheme=scheme) as page:
        page.goto(f"/dead-letters/shop/{LETTER}")
        page.get_by_role("button", name="Replay").click()
        expect(page.get_by_role("dialog")).to_be_visible()
        assert_accessible(page)


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_the_erasure_of_a_person_is_accessible_from_the_search_to_the_confirmation(
    admin: httpx.Client, browser: Browser, width: int, scheme: Scheme
) -> None:
    with opened(browser, str(admin.base_url), width=width, scheme=scheme) as page:
        page.goto("/erase")
        assert_accessible(page)
        assert_fits(page)
        page.get_by_label("Message keys, one per line").fill(KEY)
        page.get_by_label("Texts, one per line").fill("a text that is nowhere")
        page.get_by_role("button", name="Search", exact=True).click()
        # the page follows the search: no reading by hand
        expect(page.get_by_role("heading", name="Findings of the search")).to_be_visible()
        sure = page.get_by_role("button", name="Erase what is listed above")
        expect(sure).to_be_disabled()
        page.get_by_label(" to confirm").fill(
            page.locator("#e-n").get_attribute("data-confirm") or ""
        )
        expect(sure).to_be_enabled()
        page.get_by_label("Also erase findings that only match a text").check()
        page.get_by_role("button", name="Show what will happen").click()
        expect(page.get_by_label("Also erase findings that only match a text")).to_be_checked()
        assert_accessible(page)
        assert_fits(page)
        keep_picture(page, "erase")
        page.get_by_role("button", name="Delete this search").click()
        expect(page.get_by_role("heading", name="Findings of the search")).to_have_count(0)
