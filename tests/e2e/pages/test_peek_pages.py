"""Messages of a logical table in a real browser, on real Kafka and ZooKeeper."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

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
from tests.support.relays.peeked import SECRET, Feed, peeked_admin

Served = tuple[str, Feed]


@pytest.fixture(scope="module")
def served(kafka: Kafka, zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[Served]:
    with peeked_admin(zookeeper.hosts, kafka.bootstrap, fresh_name("pages")) as (client, feed):
        for number in range(12):
            feed.row("INSERT", f"9021779{number}")
        feed.row("DELETE", "88120077")
        feed.row("UPDATE", "90217744", {"state": "open", "email": SECRET})
        yield str(client.base_url), feed


def test_a_key_filter_shows_new_rows_of_the_key_and_is_in_no_address(
    served: Served, browser: Browser
) -> None:
    url, feed = served
    with opened(browser, url) as page:
        addresses: list[str] = []
        page.on("request", lambda request: addresses.append(request.url))
        page.goto("/peek?table=shop.client")
        page.get_by_label("Key contains").fill("jane")
        page.get_by_role("button", name="Show", exact=True).click()
        expect(page.locator("[data-peek-state]")).to_have_text("Tailing")
        feed.rows("INSERT", ["jane-roe", "john-doe"])
        feed.row("UPDATE", "jane-poe", {"state": "formerly"})
        row = page.locator("[data-peek-rows] tr")
        expect(row).to_have_count(2)
        page.get_by_role("button", name="jane-poe").click()
        expect(page.locator("#message").get_by_role("heading")).to_have_text("jane-poe")
        expect(page.locator("#message tr.chg").first).to_contain_text("formerly")
        expect(page.locator("tr.sel")).to_contain_text("jane-poe")
        assert_accessible(page)
        assert [each for each in addresses if "jane" in each] == []


def keys(page: Page) -> list[str]:
    return page.locator("[data-peek-rows] a.go").all_inner_texts()


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "dark"), (NARROW, "light")])
def test_peek_and_its_states_are_accessible(
    served: Served, browser: Browser, width: int, scheme: Scheme
) -> None:
    with opened(browser, served[0], width=width, scheme=scheme) as page:
        for path, text in (
            ("/peek", "Choose a table"),
            ("/peek?table=shop.client", "Columns before and after"),
            ("/peek?table=shop.client&from=now", "No message since this page was opened"),
            ("/peek?table=shop.cart", "No message matches"),
            ("/peek?table=shop.clinet", "There is no logical table"),
            ("/peek?table=shop.client&m=0:999999:0", "not in the topic any more"),
            ("/instances/shop-a/topics", "no group has committed offsets"),
        ):
            page.goto(path)
            assert text in page.content()
            assert_accessible(page)
            assert_fits(page)
            keep_picture(page, "".join(each if each.isalnum() else "-" for each in path[1:]))


def test_new_rows_appear_and_are_held_while_a_row_has_the_focus(
    served: Served, browser: Browser
) -> None:
    url, feed = served
    with opened(browser, url) as page:
        page.goto("/peek?table=shop.client")
        status = page.locator("[data-peek-state]")
        expect(status).to_have_text("Tailing")
        feed.row("INSERT", "first-new")
        expect(page.locator("[data-peek-rows] tr").first).to_contain_text("first-new")
        page.locator("[data-peek-rows] a.go").nth(1).focus()
        feed.row("INSERT", "second-new")
        expect(status).to_have_text("Held, 1 new")
        assert "second-new" not in keys(page)
        page.get_by_role("button", name="Freeze").focus()
        expect(page.locator("[data-peek-rows] tr").first).to_contain_text("second-new")
        page.get_by_role("button", name="Freeze").click()
        feed.row("INSERT", "third-new")
        expect(status).to_have_text("Held, 1 new")
        page.get_by_role("button", name="Freeze").click()
        expect(page.locator("[data-peek-rows] tr").first).to_contain_text("third-new")


def test_a_row_opens_its_columns_and_a_new_one_too(served: Served, browser: Browser) -> None:
    url, feed = served
    with opened(browser, url) as page:
        page.goto("/peek?table=shop.client&from=now")
        expect(page.locator("[data-peek-state]")).to_have_text("Tailing")
        feed.row("UPDATE", "opened", {"state": "formerly", "email": SECRET})
        page.get_by_role("link", name="opened").click()
        message = page.locator("#message")
        expect(message.get_by_role("heading")).to_have_text("opened")
        expect(message.locator("tr.chg").first).to_contain_text("formerly")
        assert SECRET not in page.content()
        page.reload()
        expect(page.locator("#message").get_by_role("heading")).to_have_text("opened")


@pytest.mark.long
def test_a_broker_that_comes_back_is_followed_again(
    zookeeper: ZooKeeper,
    new_kafka: Callable[..., Kafka],
    fresh_name: FreshName,
    browser: Browser,
) -> None:
    broker = new_kafka()
    name = fresh_name("away")
    with (
        peeked_admin(zookeeper.hosts, broker.bootstrap, name) as (client, feed),
        opened(browser, str(client.base_url)) as page,
    ):
        feed.row("INSERT", "before")
        page.goto("/peek?table=shop.client")
        expect(page.locator("[data-peek-state]")).to_have_text("Tailing")
        broker.stop()
        state = page.locator("[data-peek-state]")
        expect(state).to_contain_text("No Kafka broker answers")
        broker.start()
        expect(page.locator("[data-peek-state]")).to_have_text("Tailing")
        Feed(broker.bootstrap, name, number=7).row("INSERT", "after")
        expect(page.locator("[data-peek-rows] tr").first).to_contain_text("after")
