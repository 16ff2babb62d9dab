"""Signing in and the page of the users in a real browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from deploy.embedded import ZooKeeper
from tests.servers.fixtures import FreshName
from tests.support.browser import NARROW, WIDE, Scheme, assert_accessible, assert_fits, opened
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.waiting import wait_until

PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def admin(zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[str]:
    with admin_client(admin_settings(zookeeper.hosts, fresh_name("users"))) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        for name, role in (("ann", "admin"), ("ben", "viewer")):
            tag = client.get("/api/v1/users").headers["etag"]
            user = {"role": role, "password": PASSWORD}
            client.put(f"/api/v1/users/{name}", json=user, headers={"If-Match": tag})
        client.put("/api/v1/tokens/grafana", json={"owner": "ben", "role": "viewer", "days": 3})
        yield str(client.base_url)


def signed_in(page: Page, name: str = "ann") -> None:
    page.goto("/users")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Users and tokens", exact=True)).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_both_pages_are_accessible(
    admin: str, browser: Browser, width: int, scheme: Scheme
) -> None:
    with opened(browser, admin, token="", width=width, scheme=scheme) as page:
        page.goto("/login")
        assert_accessible(page)
        assert_fits(page)
        signed_in(page)
        assert_accessible(page)
        assert_fits(page)
        page.get_by_role("link", name="Change ben").click()
        expect(page.get_by_role("dialog", name="Change ben")).to_be_visible()
        assert_accessible(page)


def test_without_script_a_user_signs_in_after_a_wrong_password_and_out(
    admin: str, browser: Browser
) -> None:
    with opened(browser, admin, token="", script=False) as page:
        page.goto("/login?next=/users")
        page.get_by_label("Name").fill("ben")
        page.get_by_label("Password").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("4 attempts are left")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_text("Signed in as ben")).to_be_visible()
        page.get_by_role("button", name="Sign out", exact=True).click()
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        page.goto("/users")
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_an_administrator_makes_a_user_and_a_token(admin: str, browser: Browser) -> None:
    with opened(browser, admin, token="") as page:
        signed_in(page)
        page.get_by_role("button", name="Add a user").click()
        dialog = page.get_by_role("dialog", name="Add a user")
        dialog.get_by_label("Name").fill("eve")
        dialog.get_by_role("button", name="Add the user").click()
        expect(page.get_by_role("status").first).to_contain_text("The user was added.")
        page.get_by_role("button", name="New token").click()
        dialog = page.get_by_role("dialog", name="New token")
        dialog.get_by_label("Name").fill("ci")
        dialog.get_by_role("button", name="Make the token").click()
        expect(page.get_by_text("It is not shown again")).to_be_visible()
