"""The audit trail and dead letters in a real browser."""

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, expect

from deploy.embedded import Kafka, ZooKeeper
from tests.servers.fixtures import FreshName
from tests.support.browser import NARROW, WIDE, Scheme, assert_accessible, assert_fits, opened
from tests.support.relays.kept_back import LETTER, admin_with_letters


@pytest.fixture(scope="module")
def admin(kafka: Kafka, zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[httpx.Client]:
    with admin_with_letters(zookeeper.hosts, kafka.bootstrap, fresh_name("record")) as client:
        yield client


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_audit_and_dead_letters_are_accessible(
    admin: httpx.Client, browser: Browser, width: int, scheme: Scheme
) -> None:
    with opened(browser, str(admin.base_url), width=width, scheme=scheme) as page:
        for path in ("/audit", "/dead-letters", f"/dead-letters/shop/{LETTER}"):
            page.goto(path)
            assert_accessible(page)
            assert_fits(page)
        page.get_by_role("button", name="Replay").click()
        expect(page.get_by_role("dialog")).to_be_visible()
        assert_accessible(page)
