"""Overview and instance page in a real browser, over statuses in a real ZooKeeper."""

from collections.abc import Iterator
from time import time

import httpx
import pytest
from playwright.sync_api import Browser, expect

from deploy.embedded import ZooKeeper
from relay.state import (
    FailoverView,
    InstanceStatus,
    InstanceStore,
    Membership,
    Paths,
    RelayMember,
    RunnableInstance,
    ServerView,
)
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
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until

_INSTANCES = ("shop", "crm", "ads")


@pytest.fixture(scope="module")
def admin(zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[httpx.Client]:
    installation = fresh_name("watch-pages")
    paths = Paths(f"/roma/{installation}")
    source = {"host": "mysql-shop-1", "user": "relay", "server_id": 7}
    with session_with(zookeeper.hosts) as session:
        for number in (1, 2):
            member = RelayMember(
                f"r{number}",
                f"rack-a-0{number}",
                2211,
                "",
                _INSTANCES,
                int(time() * 1000) - 86_400_000,
                f"s{number}",
                4000,
                tuple(RunnableInstance(each) for each in _INSTANCES),
            )
            Membership(session, paths).announce(member)
        store = InstanceStore(session, paths)
        for number, name in enumerate(_INSTANCES):
            session.create_ephemeral(paths.leader(name), b'{"relay": "r1"}')
            store.put_status(
                InstanceStatus(
                    name,
                    "RUNNING",
                    relay="r1",
                    lag_seconds=0.4,
                    position_file="mysql-bin.001042",
                    position_offset=771204133,
                    execute_time=int(time() * 1000),
                    execute_position=13511071186682017,
                    dropped_rows={"filter": 18204} if number else {},
                    updated_ms=int(time() * 1000),
                )
            )
        store.put_status(
            InstanceStatus(
                "crm",
                "STOPPED",
                "UNMAPPED_NAME",
                "no table mapping lists crm_02.lead_archive.",
                "add the name to the mapping documents, or set unmapped_table to drop.",
                "r1",
            )
        )
        uuid = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
        servers = (
            ServerView("master", "mysql-shop-1:3306", True, executed=f"{uuid}:1-90", behind=0),
            ServerView("standby", "mysql-shop-2:3306", True, executed=f"{uuid}:1-90", behind=0),
        )
        store.failover.put_view(
            "shop", FailoverView("master", published=f"{uuid}:1-90", servers=servers)
        )
        settings = admin_settings(
            zookeeper.hosts,
            installation,
            instances=[{"name": each, "source": source} for each in _INSTANCES],
        )
        with admin_client(settings) as client:
            wait_until(lambda: client.get("/").status_code == 200, "the admin to show pages")
            yield client


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
@pytest.mark.parametrize(
    ("path", "heading", "dialogs"),
    [
        ("/instances/shop", "shop", ("pause", "throttle", "move")),
        ("/instances/crm", "crm", ("start",)),
        ("/instances/shop/copies", "Table copies of shop", ()),
        ("/failover?instance=shop", "Failover", ("switch-", "hold-")),
    ],
)
def test_pages_and_their_dialogs_are_accessible(
    admin: httpx.Client,
    browser: Browser,
    path: str,
    heading: str,
    dialogs: tuple[str, ...],
    width: int,
    scheme: Scheme,
) -> None:
    with opened(browser, str(admin.base_url), width=width, scheme=scheme) as page:
        page.goto(path)
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
        if path.endswith("/copies"):
            page.get_by_label("Tables", exact=True).fill("shop.orders")
            page.get_by_role("button", name="Show what will happen").click()
            expect(page.get_by_role("heading", name="What will happen")).to_be_visible()
        assert_accessible(page)
        assert_fits(page)
        keep_picture(page, path.partition("?")[0].strip("/").replace("/", "-") or "overview")
        for dialog in dialogs:
            page.locator(f'a[data-dialog="{dialog}"]').first.click()
            expect(page.locator(f'dialog[id="{dialog}"]')).to_be_visible()
            assert_accessible(page)
            keep_picture(page, dialog)
            page.keyboard.press("Escape")


def test_a_row_leads_to_the_instance_and_a_filter_is_part_of_the_address(
    admin: httpx.Client, browser: Browser
) -> None:
    with opened(browser, str(admin.base_url)) as page:
        page.goto("/")
        page.keyboard.press("f")
        expect(page.locator("#lf")).to_be_focused()
        page.keyboard.type("crm")
        page.keyboard.press("Enter")
        page.wait_for_url("**/?filter=crm*")
        expect(page.locator("tr.link")).to_have_count(1)
        page.locator("tr.link a.go").click()
        expect(
            page.get_by_role("heading", name="Why it is stopped, and what to do")
        ).to_be_visible()


def test_live_parts_follow_and_an_open_table_stays_open(
    admin: httpx.Client, browser: Browser
) -> None:
    with opened(browser, str(admin.base_url)) as page:
        page.goto("/instances/shop")
        table = page.locator("#live-charts details").first
        table.locator("summary").click()
        with page.expect_response(lambda answer: "range=1h" in answer.url):
            pass
        with page.expect_response(lambda answer: "range=1h" in answer.url):
            pass
        expect(table).to_have_attribute("open", "")


def test_a_page_says_that_its_figures_are_old_while_the_admin_does_not_answer(
    admin: httpx.Client, browser: Browser
) -> None:
    with opened(browser, str(admin.base_url)) as page:
        page.goto("/instances/shop")
        note = page.get_by_role("alert").filter(has_text="The admin does not answer.")
        expect(note).to_be_hidden()
        page.route("**/instances/shop?range=*", lambda route: route.abort())
        expect(note).to_be_visible(timeout=20_000)
        expect(note).to_contain_text("The figures on this page are from ")
        assert_accessible(page)
        page.unroute("**/instances/shop?range=*")
        expect(note).to_be_hidden(timeout=20_000)


def test_without_script_a_dialog_opens_by_its_address(
    admin: httpx.Client, browser: Browser
) -> None:
    with opened(browser, str(admin.base_url), script=False) as page:
        page.goto("/instances/shop#pause")
        expect(page.get_by_role("heading", name="Pause shop?")).to_be_visible()
