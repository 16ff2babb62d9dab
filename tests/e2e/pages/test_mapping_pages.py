"""The pages of the mappings in a real browser."""

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, expect

from deploy.embedded import ZooKeeper
from tests.servers.fixtures import FreshName
from tests.support.browser import NARROW, WIDE, Scheme, assert_accessible, assert_fits, opened
from tests.support.relays.mapped_admin import mapped_admin


@pytest.fixture(scope="module")
def admin(zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[httpx.Client]:
    with mapped_admin(zookeeper.hosts, fresh_name("mappings")) as client:
        yield client


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_the_logical_view_is_accessible(
    admin: httpx.Client, browser: Browser, width: int, scheme: Scheme
) -> None:
    with opened(browser, str(admin.base_url), width=width, scheme=scheme) as page:
        page.goto("/mappings")
        expect(page.get_by_role("heading", name="Logical database shop")).to_be_visible()
        assert_accessible(page)
        assert_fits(page)
