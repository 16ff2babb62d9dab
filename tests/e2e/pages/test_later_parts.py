"""Parts that script reads later, and the groups of a long list, in a real browser."""

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from api.services.failover_desk import FailoverDesk
from deploy.embedded import ZooKeeper
from relay.errors import StoreUnreachable
from tests.e2e.pages.test_every_page import assert_good
from tests.servers.fixtures import FreshName
from tests.support.browser import opened
from tests.support.many_instances import admin_with_many

INSTANCE = "/instances/many-0001"


@pytest.fixture(scope="module")
def admin(zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[httpx.Client]:
    with admin_with_many(zookeeper.hosts, fresh_name("later"), 1001) as client:
        yield client


def row(page: Page, name: str) -> Locator:
    return page.locator("#groups").get_by_role("link", name=name, exact=True)


def test_a_part_shows_that_it_is_read_and_after_5_seconds_who_does_not_answer(
    admin: httpx.Client, browser: Browser
) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    with opened(browser, str(admin.base_url)) as page:
        page.route("**/topics", hold)
        page.goto(INSTANCE)
        topics = page.locator("section#topics")
        expect(topics.locator(".lines")).to_be_visible()
        expect(topics).to_have_attribute("aria-busy", "true")
        expect(topics.get_by_role("link", name="Show the topics")).to_be_hidden()
        expect(topics.get_by_text("Kafka has not answered for 5 seconds.")).to_be_visible()
        expect(page.locator("#say")).to_contain_text("Kafka has not answered")
        assert_good(page, "loading")
        (route,) = held
        body = '<div id="topics-list"><p>Topics are here.</p></div>'
        route.fulfill(body=body, content_type="text/html")
        expect(topics.get_by_text("Topics are here.")).to_be_visible()
        expect(topics.locator(".loading")).to_be_hidden()
        expect(topics).not_to_have_attribute("aria-busy", "true")
        topics.get_by_role("link", name="Refresh").click()
        expect(topics.get_by_text("Kafka has not answered for 5 seconds.")).to_be_visible()
        expect(topics.get_by_text("Topics are here.")).to_be_visible()
        expect(topics.locator(".lines")).to_be_hidden()


def test_a_part_whose_session_ended_says_so_and_keeps_its_link(
    admin: httpx.Client, browser: Browser
) -> None:
    with opened(browser, str(admin.base_url)) as page:
        page.route(
            "**/copies", lambda route: route.fulfill(status=302, headers={"Location": "/login"})
        )
        page.goto(INSTANCE)
        copies = page.locator("section#copies")
        expect(copies.get_by_text("You are signed out.")).to_be_visible()
        expect(copies.get_by_role("link", name="Show the copies of tables")).to_be_visible()


def test_a_missing_part_names_the_server_and_is_accessible(
    admin: httpx.Client, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise StoreUnreachable("No ZooKeeper server answers at zk1:2181.")

    monkeypatch.setattr(FailoverDesk, "show", away)
    with opened(browser, str(admin.base_url)) as page:
        page.goto(INSTANCE)
        expect(page.get_by_role("heading", name="ZooKeeper does not answer")).to_be_visible()
        expect(page.get_by_text("Not shown: the servers of the source")).to_be_visible()
        assert_good(page, "missing-part")


def test_without_script_a_part_is_a_link(admin: httpx.Client, browser: Browser) -> None:
    with opened(browser, str(admin.base_url), script=False) as page:
        page.goto(INSTANCE)
        expect(page.locator(".loading:visible")).to_have_count(0)
        page.get_by_role("link", name="Show the topics of this instance").click()
        expect(page.get_by_role("heading", name="Topics of many-0001")).to_be_visible()


def test_groups_of_a_long_list_open_and_stay_open(admin: httpx.Client, browser: Browser) -> None:
    with opened(browser, str(admin.base_url)) as page:
        page.goto("/")
        assert_good(page, "overview-folded")
        page.locator("summary", has_text="Stopped").click()
        expect(row(page, "many-0000")).to_be_visible()
        page.locator("summary", has_text="Running").click()
        expect(row(page, "many-0001")).to_be_visible()
        assert page.url.endswith("?open=Stopped&open=Running")
        page.locator("summary", has_text="Running").click()
        expect(row(page, "many-0001")).to_have_count(0)
        expect(row(page, "many-0000")).to_be_visible()
        assert_good(page, "overview-opened")


def test_groups_open_without_script(admin: httpx.Client, browser: Browser) -> None:
    with opened(browser, str(admin.base_url), script=False) as page:
        page.goto("/?group=server")
        page.locator("summary", has_text="s1").click()
        page.get_by_role("link", name="Show 1,001 instances").click()
        expect(row(page, "many-0000")).to_be_visible()
